-- The payments search: an index for each shape of it, and the totals behind x-total-count (docs/search.md).

-- The plain page of each order; what stands behind `include` answers further filters without the table.
create index payments_created on payments (client_id, created, id) include (payment_date, amount, payment_currency, phase);
create index payments_payment_date on payments (client_id, payment_date, id) include (created, amount, payment_currency, phase);
create index payments_phase_created on payments (client_id, phase, created, id);
create index payments_phase_payment_date on payments (client_id, phase, payment_date, id) include (payment_currency);
-- A currency without a status is a merge of the five phases.
create index payments_currency_phase_created on payments (client_id, payment_currency, phase, created, id);
create index payments_amount on payments (client_id, amount, created, id);
create index payments_beneficiary on payments (client_id, beneficiary_id, created, id);
create index payments_trade on payments (client_id, trade_id, created, id);
create index payments_reference on payments (client_id, reference, created, id) where reference is not null;
create index payments_mass_payment on payments (client_id, mass_payment_id, created, id) where mass_payment_id is not null;
create index payments_mass_payment_reference on payments (client_id, mass_payment_external_reference_id, created, id)
  where mass_payment_external_reference_id is not null;
create index payments_multipayment on payments (client_id, multipayment_id, id) where multipayment_id is not null;

-- Counts of payments, summed up in the background. Days are Europe/London days.
--   grain 0: of each phase and currency (day: 1970-01-01)
--   grain 1: of each phase, currency and month of creation;  grain 2: ... and month of the payment date
--            and of the month alone (phase 0, no currency)
--   grain 3: of each day of creation (phase 0, no currency); grain 4: of each payment date
create table payment_totals (
  client_id text not null,
  grain smallint not null,
  phase smallint not null,
  payment_currency text not null,
  day date not null,
  n bigint not null,
  -- Where the phase is 0: no payment of the day (or month) has the other date, payment date or day of creation, outside of these.
  -- A page of a range of one date in the order of the other begins to read there.
  low date,
  high date,
  primary key (client_id, grain, phase, payment_currency, day)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Buckets are in the order of the amounts only from zero on.
alter table payments add constraint payments_amount_not_negative check (amount >= 0);
-- Counts by size: an amount's bucket is the amount with its first two digits kept (1234.56 -> 1200).
create table payment_amount_totals (
  client_id text not null,
  bucket numeric not null,
  n bigint not null,
  primary key (client_id, bucket)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table payment_beneficiary_totals (
  client_id text not null,
  beneficiary_id text not null,
  n bigint not null,
  primary key (client_id, beneficiary_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- What has not been summed up yet: only ever appended to, so that writers never wait for each other.
-- A total is payment_totals + payment_total_deltas, read in one statement.
create table payment_total_deltas (
  client_id text not null,
  phase smallint not null,
  payment_currency text not null,
  created_day date not null,
  payment_date date not null,
  bucket numeric not null,
  beneficiary_id text not null,
  n bigint not null
) with (
  -- Never cut back to no pages: a plan made while it is empty would read all of it once it is not.
  vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000000000);
create index payment_total_deltas_client on payment_total_deltas (client_id);

create function payment_amount_bucket(amount numeric) returns numeric language sql immutable parallel safe return
  trunc(amount, least(0, 2 - length(trunc(amount)::text)));

-- Triggers of a statement with transition tables: INSERT, COPY, UPDATE and DELETE of any number of rows are counted alike.
create function payments_count_inserted() returns trigger language plpgsql as $$
begin
  insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
      beneficiary_id, count(*)
    from added group by 1, 2, 3, 4, 5, 6, 7;
  return null;
end $$;
create function payments_count_updated() returns trigger language plpgsql as $$
begin
  insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
      beneficiary_id, sum(n)
    from (select client_id, phase, payment_currency, created, payment_date, amount, beneficiary_id, 1 as n from added
          union all
          select client_id, phase, payment_currency, created, payment_date, amount, beneficiary_id, -1 from removed) as change
    group by 1, 2, 3, 4, 5, 6, 7 having sum(n) <> 0;
  return null;
end $$;
create function payments_count_deleted() returns trigger language plpgsql as $$
begin
  insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
      beneficiary_id, -count(*)
    from removed group by 1, 2, 3, 4, 5, 6, 7;
  return null;
end $$;
create function payments_count_truncated() returns trigger language plpgsql as $$
begin
  truncate payment_totals, payment_amount_totals, payment_beneficiary_totals, payment_total_deltas;
  return null;
end $$;
create trigger payments_count_inserted after insert on payments
  referencing new table as added for each statement execute function payments_count_inserted();
create trigger payments_count_updated after update on payments
  referencing new table as added old table as removed for each statement execute function payments_count_updated();
create trigger payments_count_deleted after delete on payments
  referencing old table as removed for each statement execute function payments_count_deleted();
create trigger payments_count_truncated after truncate on payments for each statement execute function payments_count_truncated();

-- Sums up to `most` deltas into the totals, in one statement; gives how many. The caller sees to it that one process does it at a time.
create function fold_payment_totals(most int) returns bigint language sql as $$
  with batch as (
    delete from payment_total_deltas where ctid = any (array(select ctid from payment_total_deltas order by client_id limit most)) returning *
  ), cells as (
    insert into payment_totals as t (client_id, grain, phase, payment_currency, day, n, low, high)
    select b.client_id, c.grain, c.phase, c.currency, c.day, sum(b.n), min(c.other), max(c.other)
    from batch b cross join lateral (values
      (0, b.phase, b.payment_currency, date '1970-01-01', null::date),
      (1, b.phase, b.payment_currency, date_trunc('month', b.created_day::timestamp)::date, null),
      (2, b.phase, b.payment_currency, date_trunc('month', b.payment_date::timestamp)::date, null),
      (1, 0::smallint, '', date_trunc('month', b.created_day::timestamp)::date, b.payment_date),
      (2, 0::smallint, '', date_trunc('month', b.payment_date::timestamp)::date, b.created_day),
      (3, 0::smallint, '', b.created_day, b.payment_date),
      (4, 0::smallint, '', b.payment_date, b.created_day)) as c (grain, phase, currency, day, other)
    -- A payment whose other date alone changed leaves the number as it was, but not what lies between low and high.
    group by 1, 2, 3, 4, 5 having sum(b.n) <> 0 or min(c.other) < max(c.other)
    on conflict (client_id, grain, phase, payment_currency, day)
      do update set n = t.n + excluded.n, low = least(t.low, excluded.low), high = greatest(t.high, excluded.high)
  ), amounts as (
    insert into payment_amount_totals as t (client_id, bucket, n)
    select client_id, bucket, sum(n) from batch group by 1, 2 having sum(n) <> 0
    on conflict (client_id, bucket) do update set n = t.n + excluded.n
  ), beneficiaries as (
    insert into payment_beneficiary_totals as t (client_id, beneficiary_id, n)
    select client_id, beneficiary_id, sum(n) from batch group by 1, 2 having sum(n) <> 0
    on conflict (client_id, beneficiary_id) do update set n = t.n + excluded.n
  )
  select count(*) from batch
$$;

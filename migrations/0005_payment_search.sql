-- The payments search: one index for each shape of search, and the totals behind x-total-count (docs/search.md).

-- The unfiltered page in each order. The included columns answer further filters without reading the table.
create index payments_created on payments (client_id, created, id) include (payment_date, amount, payment_currency, phase);
create index payments_payment_date on payments (client_id, payment_date, id) include (created, amount, payment_currency, phase);
create index payments_phase_created on payments (client_id, phase, created, id);
create index payments_phase_payment_date on payments (client_id, phase, payment_date, id) include (payment_currency);
-- A search by currency without a status merges the five phases.
create index payments_currency_phase_created on payments (client_id, payment_currency, phase, created, id);
create index payments_amount on payments (client_id, amount, created, id);
create index payments_beneficiary on payments (client_id, beneficiary_id, created, id);
-- Whether a beneficiary is in use: a payment to it is not final.
create index payments_beneficiary_open on payments (client_id, beneficiary_id) where phase in (1, 2);
create index payments_trade on payments (client_id, trade_id, created, id);
create index payments_reference on payments (client_id, reference, created, id) where reference is not null;
create index payments_mass_payment on payments (client_id, mass_payment_id, created, id) where mass_payment_id is not null;
create index payments_mass_payment_reference on payments (client_id, mass_payment_external_reference_id, created, id)
  where mass_payment_external_reference_id is not null;
-- What a client's file calls its payments, for who looks for one.
create index payments_instruction on payments (client_id, instruction_id, created, id) where instruction_id is not null;
create index payments_end_to_end on payments (client_id, end_to_end_id, created, id) where end_to_end_id is not null;
create index payments_ordered on payments (client_id, created, id) where source = 'client';
create index payments_multipayment on payments (client_id, multipayment_id, id) where multipayment_id is not null;

-- Counts of payments, rolled up in the background. Days are Europe/London days.
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
  -- Bounds of the other date (payment date or day of creation) of the payments of that day or month; read where the phase is 0.
  -- A page that filters by one date and sorts by the other starts reading there.
  low date,
  high date,
  primary key (client_id, grain, phase, payment_currency, day)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Buckets sort like their amounts only when amounts are not negative.
alter table payments add constraint payments_amount_check check (amount >= 0);
-- Counts by size. The bucket of an amount keeps its first two digits (1234.56 -> 1200).
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

-- What waits for an approval (phase 1), counted and added up. A row that comes to nothing is deleted.
--   grain 0: of each contact who made it (day: 1970-01-01);  grain 1: of each payment date (no contact)
create table payment_waiting_totals (
  client_id text not null,
  grain smallint not null,
  contact_id text not null,
  day date not null,
  payment_currency text not null,
  n bigint not null,
  amount numeric not null,
  primary key (client_id, grain, contact_id, day, payment_currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Counts that are not rolled up yet. Rows are only appended, so that writers never wait for each other.
-- A total is payment_totals + payment_total_deltas, read in one statement.
create table payment_total_deltas (
  client_id text not null,
  phase smallint not null,
  payment_currency text not null,
  created_day date not null,
  payment_date date not null,
  bucket numeric not null,
  beneficiary_id text not null,
  contact_id text not null,
  n bigint not null,
  -- The sum of their amounts; below zero where n is.
  amount numeric not null,
  -- For the gauge lombard_totals_unrolled_age_seconds only.
  at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity,
  primary key (client_id, id)
) with (
  -- Never truncated to zero pages: a plan made while the table is empty would scan all of it later.
  vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 1000000000);

create function payment_amount_bucket(amount numeric) returns numeric language sql immutable parallel safe return
  trunc(amount, least(0, 2 - length(trunc(amount)::text)));

-- Triggers count INSERT, COPY, UPDATE and DELETE of any number of rows. Inserts and deletes are counted by statement (20 us for one
-- payment, 3 us for each of many). Updates are counted by row, because most change one row, and only if a counted column changes.
-- Payments that go to another cell take their totals with them (src/relocation/).
create function payments_count_inserted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date,
      payment_amount_bucket(amount), beneficiary_id, contact_id, 1, amount
    from added;
  return null;
end $$;
create function payments_count_updated() returns trigger language plpgsql as $$
begin
  insert into payment_total_deltas values
    (new.client_id, new.phase, new.payment_currency, (new.created at time zone 'Europe/London')::date, new.payment_date,
      payment_amount_bucket(new.amount), new.beneficiary_id, new.contact_id, 1, new.amount),
    (old.client_id, old.phase, old.payment_currency, (old.created at time zone 'Europe/London')::date, old.payment_date,
      payment_amount_bucket(old.amount), old.beneficiary_id, old.contact_id, -1, -old.amount);
  return null;
end $$;
create function payments_count_deleted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into payment_total_deltas
    select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date,
      payment_amount_bucket(amount), beneficiary_id, contact_id, -1, -amount
    from removed;
  return null;
end $$;
create function payments_count_truncated() returns trigger language plpgsql as $$
begin
  truncate payment_totals, payment_amount_totals, payment_beneficiary_totals, payment_waiting_totals, payment_total_deltas;
  return null;
end $$;
create trigger payments_count_inserted after insert on payments
  referencing new table as added for each statement execute function payments_count_inserted();
create trigger payments_count_updated after update on payments for each row
  when ((old.client_id, old.phase, old.payment_currency, old.created, old.payment_date, old.amount, old.beneficiary_id, old.contact_id)
    is distinct from
    (new.client_id, new.phase, new.payment_currency, new.created, new.payment_date, new.amount, new.beneficiary_id, new.contact_id))
  execute function payments_count_updated();
create trigger payments_count_deleted after delete on payments
  referencing old table as removed for each statement execute function payments_count_deleted();
create trigger payments_count_truncated after truncate on payments for each statement execute function payments_count_truncated();

-- Rolls up to `most` deltas into the totals and returns how many. The caller ensures that only one process runs it at a time, so
-- that nobody else changes the totals: MERGE is then safe, and costs half of INSERT ... ON CONFLICT.
-- It finds deltas by their index: the table keeps the empty pages of the largest import ever, and this runs every second.
create function roll_up_payment_totals(most int) returns bigint language plpgsql set enable_seqscan = off set enable_sort = off as $$
declare
  batch payment_total_deltas[];
begin
  with taken as (
    delete from payment_total_deltas where ctid = any (array(select ctid from payment_total_deltas order by client_id limit most)) returning *
  ) select array_agg(taken::payment_total_deltas) into batch from taken;
  if batch is null then
    return 0;
  end if;

  merge into payment_totals as t
  using (
    select client_id, case when grouping(phase) = 1 then 0 else phase end as phase,
      case when grouping(phase) = 1 then '' else payment_currency end as payment_currency,
      case
        when grouping(created_month) = 0 then 1
        when grouping(payment_month) = 0 then 2
        when grouping(created_day) = 0 then 3
        when grouping(payment_date) = 0 then 4
        else 0
      end as grain,
      coalesce(created_month, payment_month, created_day, payment_date, date '1970-01-01') as day,
      sum(n) as n,
      case when grouping(created_month, created_day) < 3 then min(paid) else min(made) end as low,
      case when grouping(created_month, created_day) < 3 then max(paid) else max(made) end as high
    from (
      select client_id, phase, payment_currency, n, created_day, payment_date, created_day as made, payment_date as paid,
        date_trunc('month', created_day::timestamp)::date as created_month, date_trunc('month', payment_date::timestamp)::date as payment_month
      from unnest(batch)
    ) as delta
    group by grouping sets (
      (client_id, phase, payment_currency), (client_id, phase, payment_currency, created_month), (client_id, phase, payment_currency, payment_month),
      (client_id, created_month), (client_id, payment_month), (client_id, created_day), (client_id, payment_date))
    -- A payment that changes only its other date leaves the count as it was, but may widen low and high.
    having sum(n) <> 0 or (grouping(phase) = 1 and (min(paid) < max(paid) or min(made) < max(made)))
  ) as b
  on t.client_id = b.client_id and t.grain = b.grain and t.phase = b.phase and t.payment_currency = b.payment_currency and t.day = b.day
  when matched then update set n = t.n + b.n, low = least(t.low, b.low), high = greatest(t.high, b.high)
  when not matched then insert (client_id, grain, phase, payment_currency, day, n, low, high)
    values (b.client_id, b.grain, b.phase, b.payment_currency, b.day, b.n, b.low, b.high);

  merge into payment_amount_totals as t
  using (select client_id, bucket, sum(n) as n from unnest(batch) group by 1, 2 having sum(n) <> 0) as b
  on t.client_id = b.client_id and t.bucket = b.bucket
  when matched then update set n = t.n + b.n
  when not matched then insert (client_id, bucket, n) values (b.client_id, b.bucket, b.n);

  merge into payment_beneficiary_totals as t
  using (select client_id, beneficiary_id, sum(n) as n from unnest(batch) group by 1, 2 having sum(n) <> 0) as b
  on t.client_id = b.client_id and t.beneficiary_id = b.beneficiary_id
  when matched then update set n = t.n + b.n
  when not matched then insert (client_id, beneficiary_id, n) values (b.client_id, b.beneficiary_id, b.n);

  merge into payment_waiting_totals as t
  using (
    select client_id, grouping(contact_id) as grain, coalesce(contact_id, '') as contact_id, coalesce(payment_date, date '1970-01-01') as day,
      payment_currency, sum(n) as n, sum(amount) as amount
    from unnest(batch) where phase = 1
    group by grouping sets ((client_id, contact_id, payment_currency), (client_id, payment_date, payment_currency))
    having sum(n) <> 0 or sum(amount) <> 0) as b
  on t.client_id = b.client_id and t.grain = b.grain and t.contact_id = b.contact_id and t.day = b.day and t.payment_currency = b.payment_currency
  when matched and t.n + b.n = 0 and t.amount + b.amount = 0 then delete
  when matched then update set n = t.n + b.n, amount = t.amount + b.amount
  when not matched then insert (client_id, grain, contact_id, day, payment_currency, n, amount)
    values (b.client_id, b.grain, b.contact_id, b.day, b.payment_currency, b.n, b.amount);

  return cardinality(batch);
end $$;

-- The payments that exist are counted as if they were added now, one delta for each kind of them; the next roll-up adds them to the totals.
insert into payment_total_deltas (client_id, phase, payment_currency, created_day, payment_date, bucket, beneficiary_id, contact_id, n, amount)
  select client_id, phase, payment_currency, (created at time zone 'Europe/London')::date, payment_date, payment_amount_bucket(amount),
    beneficiary_id, contact_id, count(*), sum(amount)
  from payments group by 1, 2, 3, 4, 5, 6, 7, 8;

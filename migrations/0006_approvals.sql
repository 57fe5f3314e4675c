-- Versions of approval configurations; what each payment requires and has; who may act now (docs/approvals.md).

create table approval_configurations (
  client_id text not null references clients,
  version int not null,
  -- Unique across databases, so that a process may cache a configuration for ever.
  id uuid not null unique,
  configuration json not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (client_id, version)
);

-- One row for each payment that needs or needed an approval. The requirement is frozen when the payment is created.
create table payment_approvals (
  payment_id bigint primary key references payments (id),
  client_id text not null references clients,
  -- Eyes, or a rule of a configuration. People and groups are stored once, in the configuration.
  requirement json not null,
  -- As the search shows them: {date, status, contact_id, level, contact_name, reason, on_behalf_by}.
  authorisations json not null,
  remaining int not null,
  -- n_eyes_plus_status
  status text not null check (status in ('Pending approval', 'Approved', 'Rejected', 'Cancelled')),
  -- A hash of everything that decides who may act, except permissions. Payments with the same state have the same approvers.
  state bytea not null default ''
);
create index payment_approvals_pending on payment_approvals (client_id, state, payment_id) where status = 'Pending approval';

-- Who may act on a payment that is pending of authorization, so that `pending_your_approval` is an index scan. It is derived from
-- payment_approvals and the permissions, and written with them. Foreign keys would only slow down changes of 200,000 rows.
create table payment_approvers (
  client_id text not null,
  contact_id text not null,
  payment_id bigint not null,
  created timestamptz not null,
  payment_date date not null,
  may_authorise boolean not null,
  may_reject boolean not null,
  primary key (client_id, payment_id, contact_id)
);
create index payment_approvers_created on payment_approvers (client_id, contact_id, created, payment_id) where may_authorise;
create index payment_approvers_payment_date on payment_approvers (client_id, contact_id, payment_date, payment_id) where may_authorise;

-- Pending payments of a client that a contact may not authorise now, for `pending_others_approval`: one function for each order. Both
-- indexes have the order of the page, so their merge ends with the page; the inner `order by` lets it go backwards. The planner goes by
-- an average client, would look up each payment, and would keep an approver of 200,000 payments waiting for a second.
do $make$
declare
  basis text;
  direction text;
begin
  foreach basis in array array['created', 'payment_date'] loop
    foreach direction in array array['', 'desc'] loop
      execute format($f$
        create function %1$I(client text, viewer text, skipped bigint, most bigint) returns setof bigint
        language plpgsql stable rows 50 set plan_cache_mode = force_generic_plan set enable_nestloop = off set enable_hashjoin = off as $body$
        begin
          return query select p.id from payments p
            where p.client_id = client and p.phase = 1 and not exists (
              select from (
                select %2$I, payment_id from payment_approvers
                where client_id = client and contact_id = viewer and may_authorise
                order by %2$I %3$s, payment_id %3$s offset 0) a
              where a.%2$I = p.%2$I and a.payment_id = p.id
                and (select can_authorise_payments or can_create_payments from contact_clients c where c.client_id = client and c.contact_id = viewer))
            order by p.%2$I %3$s, p.id %3$s offset skipped limit most;
        end $body$
      $f$, concat_ws('_', 'payments_awaiting_others', basis, nullif(direction, '')), basis, direction);
    end loop;
  end loop;
end $make$;

-- Clients whose approvers are brought up to date by the worker, after a change of permissions that concerns many payments
-- (src/approvals/refresher.ts). It has got to (state, payment_id) of payment_approvals_pending.
create table approver_refreshes (
  client_id text primary key references clients,
  -- Whose change it was.
  actor text not null,
  request_id text not null,
  -- Nobody is told by mail of what it may approve now.
  quiet boolean not null,
  requested_at timestamptz not null,
  state bytea not null default '',
  payment_id bigint not null default 0,
  -- Payments that somebody acted on when their turn came.
  held bigint[] not null default '{}'
);

-- What each contact may authorise now, counted and added up: the total of `pending_your_approval` and the figures of the first page, kept
-- like the totals of payments (0005). A row that comes to nothing is deleted.
--   grain 0: of each currency (day: 1970-01-01);  grain 1: of each currency and payment date

create table payment_approver_totals (
  client_id text not null,
  contact_id text not null,
  grain smallint not null,
  day date not null,
  payment_currency text not null,
  n bigint not null,
  amount numeric not null,
  primary key (client_id, contact_id, grain, day, payment_currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table payment_approver_deltas (
  client_id text not null,
  contact_id text not null,
  payment_date date not null,
  payment_currency text not null,
  n bigint not null,
  amount numeric not null,
  at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity,
  primary key (client_id, contact_id, id)
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000000);

-- Amount, currency and payment date of a payment never change, so that a row takes away what it added.
-- `offset 0` and a condition on the client that no index serves keep it a look-up by key for each row: a session keeps its plan, which it
-- may have made while the tables were small.
create function payment_approvers_count_inserted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into payment_approver_deltas
    select a.client_id, a.contact_id, a.payment_date, p.payment_currency, count(*), sum(p.amount)
    from added a cross join lateral (
      select k.payment_currency, k.amount from payments k where k.id = a.payment_id and k.client_id is not distinct from a.client_id offset 0) p
    where a.may_authorise group by 1, 2, 3, 4;
  return null;
end $$;
create function payment_approvers_count_updated() returns trigger language plpgsql as $$
begin
  insert into payment_approver_deltas
    select a.client_id, a.contact_id, a.payment_date, p.payment_currency, sum(a.n), sum(a.n * p.amount)
    from (select client_id, contact_id, payment_id, payment_date, sum(n) as n
        from (select client_id, contact_id, payment_id, payment_date, 1 as n from added where may_authorise
              union all
              select client_id, contact_id, payment_id, payment_date, -1 from removed where may_authorise) as change
        group by 1, 2, 3, 4 having sum(n) <> 0) a
      cross join lateral (
        select k.payment_currency, k.amount from payments k where k.id = a.payment_id and k.client_id is not distinct from a.client_id offset 0) p
    group by 1, 2, 3, 4;
  return null;
end $$;
create function payment_approvers_count_deleted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into payment_approver_deltas
    select a.client_id, a.contact_id, a.payment_date, p.payment_currency, -count(*), -sum(p.amount)
    from removed a cross join lateral (
      select k.payment_currency, k.amount from payments k where k.id = a.payment_id and k.client_id is not distinct from a.client_id offset 0) p
    where a.may_authorise group by 1, 2, 3, 4;
  return null;
end $$;
create function payment_approvers_count_truncated() returns trigger language plpgsql as $$
begin
  truncate payment_approver_totals, payment_approver_deltas;
  return null;
end $$;
create trigger payment_approvers_count_inserted after insert on payment_approvers
  referencing new table as added for each statement execute function payment_approvers_count_inserted();
create trigger payment_approvers_count_updated after update on payment_approvers
  referencing new table as added old table as removed for each statement execute function payment_approvers_count_updated();
create trigger payment_approvers_count_deleted after delete on payment_approvers
  referencing old table as removed for each statement execute function payment_approvers_count_deleted();
create trigger payment_approvers_count_truncated after truncate on payment_approvers
  for each statement execute function payment_approvers_count_truncated();

-- Rolls up to `most` deltas into the totals and returns how many. One process at a time, like roll_up_payment_totals.
create function roll_up_payment_approver_totals(most int) returns bigint language plpgsql set enable_seqscan = off set enable_sort = off as $$
declare
  batch payment_approver_deltas[];
begin
  with taken as (
    delete from payment_approver_deltas
    where ctid = any (array(select ctid from payment_approver_deltas order by client_id, contact_id limit most)) returning *
  ) select array_agg(taken::payment_approver_deltas) into batch from taken;
  if batch is null then
    return 0;
  end if;

  merge into payment_approver_totals as t
  using (
    select client_id, contact_id, 1 - grouping(payment_date) as grain, coalesce(payment_date, date '1970-01-01') as day, payment_currency,
      sum(n) as n, sum(amount) as amount
    from unnest(batch)
    group by grouping sets ((client_id, contact_id, payment_currency), (client_id, contact_id, payment_date, payment_currency))
    having sum(n) <> 0 or sum(amount) <> 0) as b
  on t.client_id = b.client_id and t.contact_id = b.contact_id and t.grain = b.grain and t.day = b.day and t.payment_currency = b.payment_currency
  when matched and t.n + b.n = 0 and t.amount + b.amount = 0 then delete
  when matched then update set n = t.n + b.n, amount = t.amount + b.amount
  when not matched then insert (client_id, contact_id, grain, day, payment_currency, n, amount)
    values (b.client_id, b.contact_id, b.grain, b.day, b.payment_currency, b.n, b.amount);

  return cardinality(batch);
end $$;

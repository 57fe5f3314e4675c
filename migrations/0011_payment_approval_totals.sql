-- How many payments each contact may authorise now: the total of `pending_your_approval`, kept as those of payments are (0005).

create table payment_approver_totals (
  client_id text not null,
  contact_id text not null,
  n bigint not null,
  primary key (client_id, contact_id)
) with (fillfactor = 70);

create table payment_approver_deltas (
  client_id text not null,
  contact_id text not null,
  n bigint not null
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000000);
create index payment_approver_deltas_contact on payment_approver_deltas (client_id, contact_id);

create function payment_approvers_count_inserted() returns trigger language plpgsql as $$
begin
  insert into payment_approver_deltas
    select client_id, contact_id, count(*) from added where may_authorise group by 1, 2;
  return null;
end $$;
create function payment_approvers_count_updated() returns trigger language plpgsql as $$
begin
  insert into payment_approver_deltas
    select client_id, contact_id, sum(n)
    from (select client_id, contact_id, 1 as n from added where may_authorise
          union all
          select client_id, contact_id, -1 from removed where may_authorise) as change
    group by 1, 2 having sum(n) <> 0;
  return null;
end $$;
create function payment_approvers_count_deleted() returns trigger language plpgsql as $$
begin
  insert into payment_approver_deltas
    select client_id, contact_id, -count(*) from removed where may_authorise group by 1, 2;
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

-- Sums up to `most` deltas into the totals; gives how many. One process at a time, as fold_payment_totals.
create function fold_payment_approver_totals(most int) returns bigint language sql set enable_seqscan = off set enable_sort = off as $$
  with batch as (
    delete from payment_approver_deltas
    where ctid = any (array(select ctid from payment_approver_deltas order by client_id, contact_id limit most)) returning *
  ), totals as (
    insert into payment_approver_totals as t (client_id, contact_id, n)
    select client_id, contact_id, sum(n) from batch group by 1, 2 having sum(n) <> 0
    on conflict (client_id, contact_id) do update set n = t.n + excluded.n
  )
  select count(*) from batch
$$;

-- The audit trail in partitions of days, and its keyed chain with heads (docs/audit.md).
-- Rows that were sealed before have no key. The key's row says where the keyed part begins.

alter table audit rename to audit_before;
alter table audit_before drop constraint audit_pkey;
drop index audit_at;
drop index audit_entity;
drop index audit_client;
drop trigger audit_unsealed on audit_before;
drop trigger audit_immutable on audit_before;
drop trigger audit_not_truncated on audit_before;
alter table audit_before add column reason text, add column staff json;

-- Partitioned by the UTC day of `at`, the service's time. The default partition takes days that have none yet (the sandbox's clock jumps).
create table audit (
  id bigint generated always as identity,
  at timestamptz not null,
  actor text not null,
  request_id text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  client_id text,
  before json,
  after json,
  -- Why, as whoever did it said.
  reason text,
  -- A person of the institution: {issuer, subject} at its OpenID provider. The actor has the name.
  staff json,
  -- What lists filter by stands in the chain: a business transaction writes one index.
  primary key (at, id)
) partition by range (at);
create table audit_default partition of audit default;
-- In a block, as what follows: a cell that is new has no rows from before, and Citus cannot distribute these statements.
do $$ begin
  if exists (select from audit_before) then
    perform setval(pg_get_serial_sequence('audit', 'id'), max(id) + 1, false) from audit_before;
    alter table audit_before alter column id drop identity;
  end if;
end $$;

alter table audit_unsealed add column at timestamptz;
update audit_unsealed u set at = a.at from audit_before a where a.id = u.id;
alter table audit_unsealed alter column at set not null;

create or replace function audit_mark_unsealed() returns trigger language plpgsql as $$
begin
  insert into audit_unsealed (id, at) select id, at from added;
  return null;
end $$;
create trigger audit_unsealed after insert on audit
  referencing new table as added for each statement execute function audit_mark_unsealed();

-- The functions of the owner below set `lombard.audit`. The role of the service has no right to change rows, whatever it sets.
create or replace function audit_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'TRUNCATE' or current_setting('lombard.audit', true) is distinct from 'owner' then
    raise exception 'audit rows are never changed';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;
create trigger audit_immutable before update or delete on audit for each row execute function audit_refuse_change();
create trigger audit_not_truncated before truncate on audit for each statement execute function audit_refuse_change();
create trigger audit_not_truncated before truncate on audit_default
  for each statement execute function audit_refuse_change();

-- The chain has a row for each row of the trail. Its position is the order in which lists show them. What lists filter by is copied here.
create table audit_chain_keyed (
  position bigint not null,
  audit_id bigint not null,
  at timestamptz not null,
  -- The latest `at` up to here: it never falls, so that a moment leads to a position.
  latest_at timestamptz not null,
  -- More than a day before that: the sandbox's clock went back. Lists that end at a moment look for such rows.
  late boolean not null,
  entity text not null,
  entity_id text not null,
  client_id text,
  actor text not null,
  hash bytea not null
);
-- A row of the trail that was removed before has no content here; the verification finds it.
do $$ begin
  if exists (select from audit_chain) then
    insert into audit_chain_keyed
      select c.position, c.audit_id, coalesce(a.at, '-infinity'), coalesce(max(a.at) over before_it, '-infinity'),
        coalesce(a.at < max(a.at) over before_it - interval '24 hours', false),
        coalesce(a.entity, ''), coalesce(a.entity_id, ''), a.client_id, coalesce(a.actor, ''), c.hash
      from audit_chain c left join audit_before a on a.id = c.audit_id
      window before_it as (order by c.position);
  end if;
end $$;
drop table audit_chain;
alter table audit_chain_keyed rename to audit_chain;
alter table audit_chain add constraint audit_chain_pkey primary key (position);
create unique index audit_chain_row on audit_chain (audit_id);
create index audit_chain_at on audit_chain (latest_at, position);
create index audit_chain_late on audit_chain (position) where late;
create index audit_chain_entity on audit_chain (entity, position);
create index audit_chain_entity_id on audit_chain (entity_id, position);
create index audit_chain_client on audit_chain (client_id, position) where client_id is not null;
create index audit_chain_actor on audit_chain (actor, position);

-- The chain's key, sealed under the master key (purpose `audit_chain`); null until the service has made it.
create table audit_key (
  "only" boolean primary key default true check ("only"),
  -- Rows that were sealed without a key. The sealed text repeats it, where nobody can change it.
  unkeyed bigint not null,
  sealed bytea
);
insert into audit_key (unkeyed) select coalesce(max(position), 0) from audit_chain;

-- Where the chain ends, with several cells (ARCHITECTURE, Cells): each has the links of its rows. Empty with one.
create table audit_end (
  "only" boolean primary key default true check ("only"),
  position bigint not null,
  hash bytea not null,
  latest_at timestamptz not null
);

-- Links of further cells that were made and may not be in their cell yet: its server can cease to answer at any moment. Empty with one cell.
create table audit_links (
  position bigint primary key,
  audit_id bigint not null unique,
  at timestamptz not null,
  latest_at timestamptz not null,
  late boolean not null,
  entity text not null,
  entity_id text not null,
  client_id text,
  actor text not null,
  hash bytea not null
);

-- Each minute the end of the chain, also where nothing was sealed since: the minute itself is proved. `mac` is made with the chain's key,
-- over position, hash, at and floor.
create table audit_heads (
  number bigint generated always as identity primary key,
  position bigint not null,
  hash bytea not null,
  at timestamptz not null,
  -- The retention has dropped all rows up to here.
  floor boolean not null default false,
  mac bytea not null
);
create index audit_heads_position on audit_heads (position, number);
create index audit_heads_at on audit_heads (at);
create index audit_heads_floor on audit_heads (position) where floor;

-- Rows that were replaced because a person was erased. `mac` is made with the chain's key, over the new content, the position, the link
-- and the link before it.
create table audit_erasures (
  audit_id bigint primary key,
  erasure_id uuid not null,
  mac bytea not null
);

-- The rows from before this migration: one partition, with the name of its last day.
do $$
declare
  day date := (select (greatest(max(at), now()) at time zone 'UTC')::date from audit_before);
  name text := 'audit_' || to_char(day, 'YYYYMMDD');
begin
  if not exists (select from audit_before) then
    drop table audit_before;
    return;
  end if;
  execute format('alter table audit_before rename to %I', name);
  execute format('alter table audit attach partition %I for values from (minvalue) to (%L)',
    name, (day + 1)::timestamp at time zone 'UTC');
  execute format('create trigger audit_not_truncated before truncate on %I for each statement execute function audit_refuse_change()',
    name);
end $$;

-- Makes the partition of a UTC day and moves its rows out of the default partition. Gives false where it exists, or where so many rows
-- would move that everybody would wait: they stay. While it waits for its lock, writers wait behind it, so it soon gives up.
create function create_audit_day(day date) returns boolean
  language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  since timestamptz := day::timestamp at time zone 'UTC';
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
  name text := 'audit_' || to_char(day, 'YYYYMMDD');
  most_moved constant int := 10000;
  held bigint;
begin
  perform pg_advisory_xact_lock(7210446);
  if to_regclass(format('%I.%I', current_schema(), name)) is not null then return false; end if;
  -- Days before the first migration of partitions are in one.
  if exists (select from pg_class where relnamespace = quote_ident(current_schema())::regnamespace and relispartition and relkind = 'r'
      and relname ~ '^audit_\d{8}$' and relname > name and pg_get_expr(relpartbound, oid) like '%(MINVALUE)%') then
    return false;
  end if;
  select count(*) into held from (
    select from audit_default a where a.at >= since and a.at < until limit most_moved + 1) found;
  if held > most_moved then return false; end if;
  lock table only audit in access exclusive mode;
  lock table audit_default in access exclusive mode;
  execute format('create table %I (like audit including all excluding identity)', name);
  perform set_config('lombard.audit', 'owner', true);
  execute format('with moved as (delete from audit_default where at >= %L and at < %L returning *)
    insert into %I select * from moved', since, until, name);
  perform set_config('lombard.audit', '', true);
  execute format('alter table audit attach partition %I for values from (%L) to (%L)', name, since, until);
  execute format('create trigger audit_not_truncated before truncate on %I
    for each statement execute function audit_refuse_change()', name);
  return true;
end $$;

-- Marks the head behind which rows may go; it replaces those of its position. The service makes its mac; without the key nobody can.
create function set_audit_floor(p_position bigint, p_hash bytea, p_at timestamptz, p_mac bytea) returns void
  language sql security definer set search_path from current as $$
  delete from audit_heads where position = p_position;
  insert into audit_heads (position, hash, at, floor, mac) values (p_position, p_hash, p_at, true, p_mac)
$$;

-- What a function of the owner removes leaves a row of its own.
create function note_audit_removal(p_at timestamptz, p_entity text, p_entity_id text, p_after json) returns void
  language sql security definer set search_path from current as $$
  insert into audit (at, actor, request_id, action, entity, entity_id, after)
    values (p_at, 'service:retention', 'retention', 'delete', p_entity, p_entity_id, p_after)
$$;
revoke execute on function note_audit_removal from public;

-- Drops the partition of a UTC day, where all its rows are behind the floor. It soon gives up its lock.
create function drop_audit_day(day date, p_at timestamptz) returns boolean
  language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
  name text := 'audit_' || to_char(day, 'YYYYMMDD');
  floor_position bigint := (select max(position) from audit_heads where floor);
  held bigint;
  kept boolean;
begin
  if to_regclass(format('%I.%I', current_schema(), name)) is null or floor_position is null then return false; end if;
  execute format('select count(*), coalesce(bool_or(c.position > %L), false) from %I a
    left join audit_chain c on c.audit_id = a.id', floor_position, name) into held, kept;
  if kept then return false; end if;
  lock table only audit in access exclusive mode;
  if exists (select from audit_unsealed u where u.at < until) then return false; end if;
  execute format('delete from audit_erasures e using %I a where e.audit_id = a.id', name);
  execute format('drop table %I', name);
  if held > 0 then
    perform note_audit_removal(p_at, 'audit', to_char(day, 'YYYY-MM-DD'), json_build_object('rows', held, 'floor', floor_position));
  end if;
  return true;
end $$;

-- Removes what is left behind the floor, in batches: rows of a day that has others to keep, the chain, and older heads.
-- Gives how many rows of the chain it removed.
create function clear_audit_behind_floor(p_at timestamptz, p_limit int) returns int
  language plpgsql security definer set search_path from current as $$
declare
  floor_position bigint := (select max(position) from audit_heads where floor);
  removed int;
  cleared int;
begin
  perform set_config('lombard.audit', 'owner', true);
  with old as (select position, audit_id, at from audit_chain where position <= floor_position order by position limit p_limit),
  gone as (delete from audit a using old where a.at = old.at and a.id = old.audit_id returning 1),
  forgotten as (delete from audit_erasures e using old where e.audit_id = old.audit_id),
  unchained as (delete from audit_chain c using old where c.position = old.position returning 1)
  select (select count(*) from gone), (select count(*) from unchained) into removed, cleared;
  perform set_config('lombard.audit', '', true);
  delete from audit_heads where position < floor_position;
  if removed > 0 then
    perform note_audit_removal(p_at, 'audit', floor_position::text, json_build_object('rows', removed, 'floor', floor_position));
  end if;
  return cleared;
end $$;

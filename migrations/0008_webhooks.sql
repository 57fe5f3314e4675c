-- Webhooks. Clients read `subscriptions`, `notifications` and `attempts` (GraphQL); the other tables belong to the delivery engine.
--
-- Events, notifications and attempts are partitioned by the UTC day of the event (`created_at`, the same value in all three).
-- Rows that belong together are in one day and are dropped with it, and a key leads to one partition.
-- Moments have milliseconds, as the service's clock has: a moment with more digits would not find its row again.
-- A default partition takes days that have none yet (the sandbox's clock jumps).

create type webhook_type as enum (
  'TRADE_STATUS_CHANGE', 'PAYMENT_STATUS_CHANGE', 'CREDIT_INCOMING_TRANSACTION', 'CREDIT_MARGIN_TRANSACTION',
  'CREDIT_PAYMENT_RETURNED_TRANSACTION', 'CREDIT_TRANSACTION', 'DEBIT_TRANSACTION', 'ONBOARDING_STATUS_CHANGE',
  'BENEFICIARY_STATUS_CHANGE', 'MASS_PAYMENT_STATUS_CHANGE', 'MASS_BENEFICIARY_STATUS_CHANGE');

-- HTTP: the service sends to `url`. STREAM: the client reads (src/webhooks/stream.ts); nothing is dialled.
create type subscription_delivery as enum ('HTTP', 'STREAM');

create type extra_header as (name text, value text);

create table subscriptions (
  id uuid primary key default gen_random_uuid(),
  client_id text not null references clients,
  contact_id text not null,
  delivery subscription_delivery not null default 'HTTP',
  url text not null check (length(url) <= 2048),
  active boolean not null default false,
  -- Sealed under the master key (purpose `webhook_secret`); null is the empty key.
  secret bytea,
  -- Replaced secrets that are still signed with, each until its moment.
  former_secrets bytea[] not null default '{}' check (cardinality(former_secrets) <= 3),
  former_secrets_until timestamptz[] not null default '{}'
    constraint subscriptions_former_secrets_until_check check (cardinality(former_secrets_until) = cardinality(former_secrets)),
  types webhook_type[] not null,
  extra_headers extra_header[] not null default '{}' check (cardinality(extra_headers) <= 5),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Set when the service switched it off: `gone` (410), `failing` (five days of nothing but failures).
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  disabled_at timestamptz,
  deleted_at timestamptz,
  -- The types that it had before, the last one last: [{types, since, until}]. A replay sends what a subscription had.
  former_types jsonb not null default '[]',
  -- Counts changes, so that a worker knows when its copy of a subscription is old.
  revision int not null default 1
);
create index subscriptions_client on subscriptions (client_id, created_at, id) where deleted_at is null;

create function subscription_changed() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then new.revision := old.revision + 1; end if;
  perform pg_notify('webhook_subscriptions', new.id::text);
  return new;
end $$;
create trigger subscription_changed before insert or update on subscriptions
  for each row execute function subscription_changed();

-- The event log. It also keeps what nobody was notified of: a subscription that was inactive can be sent it later.
-- `type` is a webhook_type or PING. Bodies of up to a page stay in the row: they are read once, soon.
create table webhook_events (
  id bigint generated always as identity,
  client_id text not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null,
  -- Of an event about one payment.
  payment_id text,
  -- The span that caused it (W3C Trace Context), where somebody collects traces.
  traceparent text,
  primary key (client_id, created_at, id)
) partition by range (created_at);
create index webhook_events_payment on webhook_events (client_id, payment_id) where payment_id is not null;
create table webhook_events_default partition of webhook_events default with (toast_tuple_target = 8160);

-- The outbox: events without notifications so far. One thin row for each event, written with it, deleted by the worker that takes it.
-- The key begins with the client, so that clients share a batch: the burst of one does not delay the others.
create table webhook_outbox (
  client_id text not null,
  event_id bigint not null,
  type webhook_type not null,
  created_at timestamptz(3) not null,
  primary key (client_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- One row for each event and subscription. The id is made of both (notification_id), so that a notification exists only once.
-- No index contains status or attempts_count, so that changing them is a HOT update.
create table notifications (
  id uuid not null,
  client_id text not null,
  subscription_id uuid not null,
  event_id bigint not null,
  type text not null,
  status text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts_count int not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz,
  primary key (id, created_at)
) partition by range (created_at);
create index notifications_subscription on notifications (subscription_id, created_at, id);
create table notifications_default partition of notifications default with (fillfactor = 50);

-- The body as it is sent.
create function notifications_body(n notifications) returns text
  language sql stable security definer set search_path from current as $$
  select e.body from webhook_events e where e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id
$$;

-- created_at is the notification's (the partition); started_at is the attempt's own moment.
create table attempts (
  notification_id uuid not null,
  attempt_number int not null,
  delivery_id uuid not null,
  client_id text not null,
  subscription_id uuid not null,
  started_at timestamptz not null,
  duration_ms int not null,
  status_code int,
  headers json,
  body text,
  reason text,
  created_at timestamptz(3) not null,
  primary key (notification_id, attempt_number, delivery_id, created_at)
) partition by range (created_at);
create table attempts_default partition of attempts default;

-- One row for each pending notification. Rows with a lease belong to a worker.
create table webhook_queue (
  notification_id uuid primary key,
  client_id text not null,
  subscription_id uuid not null,
  event_id bigint not null,
  created_at timestamptz(3) not null,
  due_at timestamptz not null,
  -- Attempts made so far, and those of the present round. A redelivery begins a new round: -1 where an attempt is on its way, which is in none.
  attempts int not null,
  round_attempts int not null,
  -- The attempts from which on a recovery of the endpoint may make it due before its time (src/webhooks/recovery.ts).
  early_from int not null default 0,
  -- Pings go to inactive subscriptions as well, so they are claimed separately.
  ping boolean not null,
  lease_owner int
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
-- For discovery, claims and back-off: rows without a lease.
create index webhook_queue_due on webhook_queue (subscription_id, due_at) where lease_owner is null and not ping;
create index webhook_queue_pings on webhook_queue (due_at) where lease_owner is null and ping;

-- A worker lives as long as it holds the session advisory lock (7210440, id): its number is an int, as the numbers of such locks are.
create sequence webhook_worker_numbers as int;
create table webhook_workers (
  id int primary key,
  name text not null,
  started_at timestamptz not null
);

-- The streams of subscriptions of delivery STREAM. One reader has it at a time; the newest one takes it over.
create table webhook_streams (
  subscription_id uuid primary key references subscriptions,
  client_id text not null,
  reader uuid,
  -- Service time at which a reader was last there.
  read_at timestamptz not null,
  -- By the database's clock, until when the reader counts as there: the sandbox's clock may jump past `read_at`.
  reader_until timestamptz,
  -- The place of the last notification that was sent.
  position bigint not null default 0
);
-- What was sent, in its order: a reader that lost the connection goes on behind the last place that it knows.
create table webhook_stream_positions (
  subscription_id uuid not null,
  position bigint not null,
  client_id text not null,
  notification_id uuid not null,
  created_at timestamptz(3) not null,
  attempt_number int not null,
  delivery_id uuid not null,
  primary key (subscription_id, position)
);
create index webhook_stream_positions_day on webhook_stream_positions (created_at);

-- The health of an endpoint: its last success, and since when every attempt has failed.
create table webhook_endpoints (
  subscription_id uuid primary key references subscriptions,
  succeeded_at timestamptz,
  failing_since timestamptz
) with (fillfactor = 70);

-- The id of the notification of an event for a subscription: a UUID in the layout of version 7. It begins with the event's moment and the
-- last 20 bits of the event's number, so that ids lead to their partition and sort as the events did. The rest is a hash of the pair.
create function notification_id(event_id bigint, subscription_id uuid, created_at timestamptz) returns uuid
  language sql immutable parallel safe as $$
  select (lpad(to_hex((date_part('epoch', created_at) * 1000)::bigint), 12, '0')
    || '7' || lpad(to_hex((event_id >> 8) & 4095), 3, '0')
    || '8' || lpad(to_hex(event_id & 255), 2, '0') || substr(md5(event_id::text || subscription_id::text), 20, 13))::uuid
$$;

-- Makes the partition of a UTC day of one table (`webhook_events`, `notifications`, `attempts`) and moves the rows of that day out of the default
-- partition. Gives false where the partition exists, or where the rows are so many that everybody would wait for the move: they stay.
-- A transaction does this for one table: a lock on all three would deadlock with their readers. While it waits for its lock, later
-- readers and writers wait behind it, so it soon gives up.
-- It runs as its owner: the service's role need not be allowed to alter tables.
create function create_webhook_day(parent regclass, day date) returns boolean
  language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  since timestamptz := day::timestamp at time zone 'UTC';
  until timestamptz := (day + 1)::timestamp at time zone 'UTC';
  table_name text := (select relname from pg_class where oid = parent);
  name text := table_name || '_' || to_char(day, 'YYYYMMDD');
  most_moved constant int := 10000;
  held bigint;
begin
  if parent not in ('webhook_events'::regclass, 'notifications'::regclass, 'attempts'::regclass) then
    raise exception '% has no partitions of days', parent;
  end if;
  perform pg_advisory_xact_lock(7210441);
  if to_regclass(format('%I.%I', current_schema(), name)) is not null then return false; end if;
  execute format('select count(*) from (select from %I where created_at >= %L and created_at < %L limit %s) as found',
    table_name || '_default', since, until, most_moved + 1) into held;
  if held > most_moved then return false; end if;
  -- Nobody may read or write meanwhile: a statement that was planned for the default partition would miss the moved rows, and its new rows
  -- would be refused. The first lock is the strongest that is needed: two holders of a weaker lock who want more would wait for each other.
  execute format('lock table only %s in access exclusive mode', parent);
  execute format('lock table %I in access exclusive mode', table_name || '_default');
  execute format('create table %I (like %s including all excluding identity)', name, parent);
  if table_name = 'webhook_events' then execute format('alter table %I set (toast_tuple_target = 8160)', name); end if;
  if table_name = 'notifications' then execute format('alter table %I set (fillfactor = 50)', name); end if;
  execute format('with moved as (delete from %I where created_at >= %L and created_at < %L returning *) insert into %I select * from moved',
    table_name || '_default', since, until, name);
  execute format('alter table %s attach partition %I for values from (%L) to (%L)', parent, name, since, until);
  return true;
end $$;

-- Drops the partition of a UTC day of one table, if there is one, and leaves an audit row (`noted_at`: the service's time). As above, it
-- soon gives up its lock.
create function drop_webhook_day(parent regclass, day date, noted_at timestamptz) returns void
  language plpgsql security definer set search_path from current set lock_timeout = '500ms' as $$
declare
  table_name text := (select relname from pg_class where oid = parent);
  name text := table_name || '_' || to_char(day, 'YYYYMMDD');
  held bigint;
begin
  if parent not in ('webhook_events'::regclass, 'notifications'::regclass, 'attempts'::regclass) then
    raise exception '% has no partitions of days', parent;
  end if;
  if to_regclass(format('%I.%I', current_schema(), name)) is null then return; end if;
  execute format('select count(*) from %I', name) into held;
  execute format('drop table %I', name);
  if held = 0 then return; end if;
  insert into audit (at, actor, request_id, action, entity, entity_id, after)
    values (noted_at, 'service:retention', 'retention', 'delete', replace(table_name, 'webhook_', ''), to_char(day, 'YYYY-MM-DD'),
      json_build_object('rows', held));
end $$;

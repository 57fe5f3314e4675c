-- The rights of the GraphQL endpoint. Every operation runs as the role `lombard_client`. It may only read the columns below, in the
-- rows of the client that `lombard.client_id` names: row level security keeps tenants apart even if a statement does not. Secrets are
-- not among the columns. The service makes changes itself (src/webhooks), so the role may change nothing.

-- Roles belong to the whole server: another database may have created this one, or may be creating it now.
do $$
declare
  role constant text := 'lombard_client';
begin
  if not exists (select from pg_roles where rolname = role) then
    begin
      execute format('create role %I nologin', role);
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise insufficient_privilege using message = format(
          'the database role %I is missing and the user %I may not create roles: let an administrator run: create role %I; grant %I to %I',
          role, current_user, role, role, current_user);
    end;
  end if;
  if not pg_has_role(current_user, role, 'member') then
    begin
      execute format('grant %I to current_user', role);
    exception
      when unique_violation then null;
      when insufficient_privilege then
        raise insufficient_privilege using message = format(
          'the user %I may not act as the database role %I: let an administrator run: grant %I to %I', current_user, role, role, current_user);
    end;
  end if;
end $$;

do $$ begin execute format('grant usage on schema %I to lombard_client', current_schema()); end $$;
grant select (id, client_id, contact_id, delivery, url, active, types, extra_headers, disabled_reason, disabled_at, created_at)
  on subscriptions to lombard_client;
grant select (id, client_id, subscription_id, event_id, type, status, created_at) on notifications to lombard_client;
grant select (notification_id, attempt_number, delivery_id, client_id, started_at, duration_ms, status_code, headers, body, reason, created_at)
  on attempts to lombard_client;
grant select (client_id, created_at, id, body) on webhook_events to lombard_client;

alter table subscriptions enable row level security;
alter table notifications enable row level security;
alter table attempts enable row level security;
alter table webhook_events enable row level security;

-- The setting is read for each row that a statement looks at, which takes less than a microsecond. A sub-select would read it once,
-- but Citus accepts none in a policy.
create policy client_reads on subscriptions for select to lombard_client
  using (client_id = current_setting('lombard.client_id', true) and deleted_at is null);
create policy client_reads on notifications for select to lombard_client
  using (client_id = current_setting('lombard.client_id', true));
create policy client_reads on attempts for select to lombard_client
  using (client_id = current_setting('lombard.client_id', true));
create policy client_reads on webhook_events for select to lombard_client
  using (client_id = current_setting('lombard.client_id', true));

-- The event stream. A process that follows a client writes so here, repeatedly. Only changes of followed clients are announced, so that
-- other transactions pay for no NOTIFY (they are serialised at commit). The triggers are statement triggers: for a batch of 500 rows
-- they make no measurable difference (5.9 ms an insert with and without).
create unlogged table webhook_watches (
  watcher uuid not null,
  client_id text not null,
  -- By the database's clock: the sandbox's may be moved.
  seen_at timestamptz not null,
  primary key (client_id, watcher)
);

create function watched_clients() returns setof text language sql stable as $$
  select distinct client_id from webhook_watches where seen_at > clock_timestamp() - interval '1 minute'
$$;

-- A payload has at most 8,000 bytes; one event is below 400.
create function announce_notifications() returns trigger language plpgsql as $$
begin
  if not exists (select from webhook_watches) then return null; end if;
  perform pg_notify('webhook_changes', json_agg(change)::text)
  from (
    select json_build_object('clientId', n.client_id, 'event', 'notification', 'data', json_build_object('id', n.id,
      'subscriptionId', n.subscription_id, 'type', n.type, 'status', n.status, 'attempts', n.attempts_count)) as change,
      row_number() over () / 20 as page
    from changed n where n.client_id in (select watched_clients())
  ) as changes group by page;
  return null;
end $$;
create trigger announce_inserted after insert on notifications
  referencing new table as changed for each statement execute function announce_notifications();
create trigger announce_updated after update on notifications
  referencing new table as changed for each statement execute function announce_notifications();

create function announce_subscription() returns trigger language plpgsql as $$
begin
  if new.client_id in (select watched_clients()) then
    perform pg_notify('webhook_changes', json_build_array(json_build_object('clientId', new.client_id, 'event', 'subscription',
      'data', json_build_object('id', new.id, 'change', case when tg_op = 'INSERT' then 'created'
        when new.deleted_at is not null then 'deleted' else 'updated' end, 'active', new.active)))::text);
  end if;
  return null;
end $$;
create trigger announce_subscription after insert or update on subscriptions
  for each row execute function announce_subscription();

-- What the GraphQL endpoint may read. Every operation runs as the role `lombard_client`, which may do nothing but read the
-- columns below, and of them only the rows of the client that `lombard.client_id` names: row level security keeps tenants
-- apart where a statement should ever forget to. Secrets are not among the columns. Changes are the service's own
-- (src/webhooks), so the role may change nothing.

-- Roles belong to the whole server: another database of it may have made this one, or be making it at this moment.
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
        raise exception 'the database role "%" is missing and user "%" may not create roles: let an administrator run: create role %; grant % to %',
          role, current_user, role, role, quote_ident(current_user);
    end;
  end if;
  if not pg_has_role(current_user, role, 'member') then
    begin
      execute format('grant %I to current_user', role);
    exception
      when unique_violation then null;
      when insufficient_privilege then
        raise exception 'user "%" may not act as the database role "%": let an administrator run: grant % to %',
          current_user, role, role, quote_ident(current_user);
    end;
  end if;
end $$;

grant usage on schema webhooks, delivery to lombard_client;
grant select (id, client_id, contact_id, url, active, types, extra_headers, disabled_reason, disabled_at, created_at)
  on webhooks.subscriptions to lombard_client;
grant select (id, client_id, subscription_id, event_id, type, status, created_at) on webhooks.notifications to lombard_client;
grant select (notification_id, attempt_number, delivery_id, client_id, started_at, duration_ms, status_code, headers, body, reason, created_at)
  on webhooks.attempts to lombard_client;
grant select (client_id, created_at, id, body) on delivery.events to lombard_client;

alter table webhooks.subscriptions enable row level security;
alter table webhooks.notifications enable row level security;
alter table webhooks.attempts enable row level security;
alter table delivery.events enable row level security;

-- A sub-select, so that the setting is read once for a statement and not once for a row.
create policy client_reads on webhooks.subscriptions for select to lombard_client
  using (client_id = (select current_setting('lombard.client_id', true)) and deleted_at is null);
create policy client_reads on webhooks.notifications for select to lombard_client
  using (client_id = (select current_setting('lombard.client_id', true)));
create policy client_reads on webhooks.attempts for select to lombard_client
  using (client_id = (select current_setting('lombard.client_id', true)));
create policy client_reads on delivery.events for select to lombard_client
  using (client_id = (select current_setting('lombard.client_id', true)));

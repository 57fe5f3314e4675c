-- Clients, contacts and applications, which the operator maintains. Sign-in and tokens are in 0003.

-- Where clients live (ARCHITECTURE, Cells). This schema is the first cell, and has everything that exists once. Each further one has the
-- clients' tables in a schema of its own.
create table cells (
  number int primary key,
  schema text not null unique,
  -- The last migration that a further cell has, and how many steps of the next one. `made`: it has once had all of them.
  migration int not null default 0,
  steps int not null default 0,
  made boolean not null default false,
  -- How often audit rows of a further cell were sealed: who has read them before somebody else did reads them again.
  seals bigint not null default 0
);
insert into cells (number, schema, made) values (0, current_schema(), true);

create table clients (
  client_id text primary key check (client_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  client_name text not null,
  account_number text,
  status text not null check (status in ('enabled', 'disabled')),
  fx_enabled boolean not null,
  mass_payments_customer boolean not null,
  authorisation_workflow text not null
    check (authorisation_workflow in ('simple', '4-eyes', '6-eyes', '8-eyes', '10-eyes')),
  payment_approvals_enabled boolean not null,
  payment_creator_approval_enabled boolean not null,
  -- An approval needs a verification code that is tied to the payment.
  approval_step_up boolean not null default false,
  -- Bounds what its contacts order in a London day.
  -- {amount, a decimal text; currency}
  daily_payment_limit json,
  statement_push_url text,
  statement_push_secret bytea,
  became_client date,
  cell int not null default 0 references cells,
  -- The cell to which it is being moved (src/client-moves.ts).
  moves_to int references cells,
  created_at timestamptz not null
);

-- Refuses a row of a client that lives in another cell than the one that is named. Databases with several cells call it for each row
-- (src/cell-migrations.ts); with one cell nobody does.
create function refuse_other_cell() returns trigger language plpgsql as $$
declare
  own int := (select cell from clients where client_id = new.client_id);
begin
  if own <> tg_argv[0]::int then
    raise exception 'the client % lives in cell %, and cell % was about to get a row of it in %', new.client_id, own, tg_argv[0], tg_table_name;
  end if;
  return new;
end $$;

-- Where there are several cells: whose the identifiers are that callers may give, since an index sees one cell only (src/claims.ts). Empty
-- where there is one cell.
create type claimed_field as enum ('payment_id', 'mass_payment_id', 'uuid', 'trade_id', 'beneficiary_id', 'account_id', 'transaction_id',
  'multipayment_unique_id', 'mass_beneficiary_id');
create table claims (
  field claimed_field not null,
  id text not null,
  client_id text not null,
  claimed_at timestamptz not null default now(),
  primary key (field, id)
);
create index claims_age on claims (claimed_at);
-- Up to which moment claims without a record were looked for (src/claim-sweep.ts).
create table claims_swept (
  "only" boolean primary key default true check ("only"),
  up_to timestamptz not null
);

-- Always empty. Where Citus has cells on its workers, a statement about this table makes a commit one of two phases (src/database/two-phase-client.ts).
create table two_phase (n int primary key);

-- The last change of each onboarding, as it was notified; its `links.self` leads here.
create table onboarding_events (
  client_id text not null references clients,
  id text not null,
  event json not null,
  recorded_at timestamptz not null,
  primary key (client_id, id)
);

create table contacts (
  contact_id text primary key check (contact_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name text not null,
  email text not null,
  password_hash text,
  phone text,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  second_factor text not null check (second_factor in ('none', 'totp', 'sms')),
  totp_secret bytea,
  -- The last TOTP time step that was used, so that no code is accepted twice.
  totp_last_step bigint,
  trusted_access boolean not null,
  -- Null: what the browser asks for on pages, and English in mails.
  language text check (language in ('en', 'de', 'fr', 'es')),
  -- Whether the person is told of payments by mail.
  approval_mails boolean not null default true,
  created_at timestamptz not null
);
create unique index contacts_email on contacts (lower(email));

create table contact_clients (
  client_id text not null references clients,
  contact_id text not null references contacts,
  can_authorise_payments boolean not null,
  can_manage_payments boolean not null,
  can_manage_multipayments boolean not null,
  can_manage_permissions boolean not null,
  can_manage_webhooks boolean not null,
  can_manage_beneficiaries boolean not null default false,
  can_create_payments boolean not null default false,
  can_trade boolean not null default false,
  primary key (client_id, contact_id)
);
create index contact_clients_contact on contact_clients (contact_id, client_id);

create table applications (
  -- The OAuth client_id; it is not a client of the institution.
  client_id text primary key check (client_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name text not null,
  redirect_uris text[] not null,
  post_logout_redirect_uris text[] not null default '{}',
  refresh_token_days int not null check (refresh_token_days between 1 and 3650),
  headless_sign_in boolean not null default true,
  require_pkce boolean not null default false,
  -- Without a secret, because whoever has the program could read it (RFC 6749, 2.1); it must use PKCE.
  public_client boolean not null default false,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  created_at timestamptz not null
);

-- The command line, which every installation has. Its redirect address fits any port of this machine (RFC 8252, 7.3).
insert into applications (client_id, name, redirect_uris, refresh_token_days, headless_sign_in, require_pkce, public_client, created_at)
values ('lombard-cli', 'Lombard command line', '{http://127.0.0.1/callback}', 28, false, true, true, now());

-- Encrypted and not hashed, because the secret signs the id_token (HS256).
create table application_secrets (
  id bigint generated always as identity primary key,
  application_id text not null references applications (client_id) on delete cascade,
  secret bytea not null,
  created_at timestamptz not null,
  -- Null for the present secret; the end of the overlap for an earlier one.
  expires_at timestamptz
);
create index application_secrets_application on application_secrets (application_id, id desc);

create table application_certificates (
  application_id text not null references applications (client_id) on delete cascade,
  subject text not null,
  primary key (application_id, subject)
);
create index application_certificates_subject on application_certificates (subject);

create table application_trusted_clients (
  application_id text not null references applications (client_id) on delete cascade,
  client_id text not null references clients,
  primary key (application_id, client_id)
);

create table operator_tokens (
  id text primary key,
  name text not null,
  -- Null where the scopes were given one by one.
  role text check (role in ('admin', 'core', 'identity', 'support', 'auditor')),
  scopes text[] not null check (scopes <@ array['read', 'feed', 'identity', 'approvals', 'redeliver', 'unlock', 'changes', 'audit', 'system']),
  token_sha256 bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- Audit trail, idempotency answers, the sandbox's clock, mails and texts that had no gateway.

create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  request_id text not null,
  action text not null,
  entity text not null,
  entity_id text not null,
  client_id text,
  before json,
  after json
);
create index audit_entity on audit (entity, entity_id, id);
create index audit_at on audit (at, id);
create index audit_client on audit (client_id, id);

-- The chain stands beside the rows, so that a row is written once and never touched again.
create table audit_chain (
  position bigint primary key,
  audit_id bigint not null unique,
  hash bytea not null
);
create table audit_unsealed (id bigint primary key);

create function audit_mark_unsealed() returns trigger language plpgsql as $$
begin
  insert into audit_unsealed select id from added;
  return null;
end $$;
create trigger audit_unsealed after insert on audit
  referencing new table as added for each statement execute function audit_mark_unsealed();

create function audit_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit rows are never changed';
end $$;
create trigger audit_immutable before update or delete on audit for each row execute function audit_refuse_change();
create trigger audit_not_truncated before truncate on audit for each statement execute function audit_refuse_change();

create table idempotency_keys (
  key text primary key,
  request_sha256 bytea not null,
  created_at timestamptz not null,
  status smallint,
  -- Encrypted: the answer to a creation can hold a secret that is shown once.
  body bytea,
  -- Of the answer, by name, in addition to those that every answer has.
  headers json,
  -- Of an answer that is good for less than a day.
  expires_at timestamptz
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

-- One row at most: the offset of the sandbox's clock.
create table service_clock (
  "only" boolean primary key default true check ("only"),
  offset_ms bigint not null
);

create table mailbox (
  id bigint generated always as identity primary key,
  sent_at timestamptz not null,
  message_id text not null unique,
  mail json not null
);
create table text_messages (
  id bigint generated always as identity primary key,
  sent_at timestamptz not null,
  recipient text not null,
  text text not null
);

-- Made identifiers: CLI000001, CON000001, ... (docs/operator-interface.md, identifiers).
create sequence client_numbers;
create sequence contact_numbers;
create sequence application_numbers;
create sequence trade_numbers;
create sequence payment_numbers;
create sequence beneficiary_numbers;
create sequence multipayment_numbers;

-- Statement requests, what they cover, and their deliveries (docs/statements.md).

-- Finds the newest transaction of an account when a statement is requested. Bookings of one account follow each other, so do their ids.
create index transactions_account on transactions (client_id, currency_account_id, id);

create table statement_requests (
  statement_id uuid primary key,
  client_id text not null references clients,
  contact_id text not null,
  -- Where the mail goes: the contact's address when the statement was asked for, or sent again.
  email text not null,
  contact_name text not null,
  date_from date not null,
  date_to date not null,
  format text not null check (format in ('pdf', 'csv', 'camt.053')),
  delivery text not null check (delivery in ('push', 'email', 'both', 'file')),
  request_id text not null,
  created_at timestamptz not null
);
create index statement_requests_created on statement_requests (created_at, statement_id);
create index statement_requests_client on statement_requests (client_id, created_at, statement_id);

-- The accounts of a statement, each with the last transaction that is included. What is booked later is not, so that every attempt of
-- every delivery gives the same statement.
create table statement_sections (
  client_id text not null,
  statement_id uuid not null references statement_requests,
  currency text not null,
  currency_account_id bigint not null,
  -- transactions.id; null if the account had none.
  last_transaction bigint,
  primary key (statement_id, currency),
  foreign key (client_id, currency_account_id) references currency_accounts (client_id, account_id)
);
create index statement_sections_account on statement_sections (client_id, currency_account_id);

-- One row for each mail, each file that is pushed, and each that is kept for its client to fetch.
-- The process that works on one holds the advisory lock (7210438, hash of the id).
create table statement_deliveries (
  id bigint generated always as identity primary key,
  client_id text not null references clients,
  statement_id uuid not null references statement_requests,
  channel text not null check (channel in ('email', 'push', 'file')),
  -- The currency of a pushed file that contains one account; empty for the whole statement.
  currency text not null,
  status text not null check (status in ('requested', 'making', 'retrying', 'sent', 'failed')),
  attempts int not null default 0,
  -- From 1; the institution begins another round when it sends the statement again. Each has the whole schedule of attempts.
  round int not null default 1,
  round_began_at timestamptz not null,
  round_attempts int not null default 0,
  -- Attempts in a row whose process ended before it could record the outcome.
  deaths int not null default 0,
  due_at timestamptz not null,
  last_error text,
  -- What the client may know of it.
  shown_error text,
  finished_at timestamptz,
  unique (statement_id, channel, currency)
);
-- Finds the next delivery of each client and channel, so that a client with many delays no other.
create index statement_deliveries_open on statement_deliveries (channel, client_id, due_at, id)
  where status in ('requested', 'making', 'retrying');

-- Files that clients fetch, in parts, for some days (src/statements/kept-file.ts).
create table statement_files (
  client_id text not null references clients,
  statement_id uuid not null references statement_requests,
  place int not null,
  bytes bytea not null,
  primary key (statement_id, place)
);
alter table statement_files alter column bytes set storage external;

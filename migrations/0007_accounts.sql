-- Accounts, currency accounts and their transactions; FX availability and exchange rates.

create table accounts (
  account_id uuid primary key,
  client_id text not null references clients,
  account_type text not null check (account_type in ('Personal', 'Business')),
  account_subtype text not null check (account_subtype in ('EMoney')),
  currency text not null,
  status text not null check (status in ('Enabled', 'Disabled', 'Deleted')),
  account_details json not null,
  created_at timestamptz not null
);
create index accounts_client on accounts (client_id, account_id);

create table currency_accounts (
  account_id bigint generated always as identity primary key,
  client_id text not null references clients,
  currency text not null,
  balance numeric not null default 0,
  created_at timestamptz not null,
  unique (client_id, currency),
  unique (client_id, account_id)
);

create table transactions (
  id bigint generated always as identity primary key,
  client_id text not null references clients,
  currency_account_id bigint not null,
  transaction_id text not null unique,
  kind text not null check (kind in ('CREDIT_INCOMING_TRANSACTION', 'CREDIT_MARGIN_TRANSACTION',
    'CREDIT_PAYMENT_RETURNED_TRANSACTION', 'CREDIT_TRANSACTION', 'DEBIT_TRANSACTION')),
  -- Signed: a debit is negative. balance_after is the account's balance after this transaction.
  amount numeric not null,
  currency text not null,
  balance_after numeric not null,
  status text not null default 'Booked',
  booking_datetime timestamptz not null,
  value_datetime timestamptz not null,
  transaction_reference text,
  transaction_information text,
  additional_transaction_information text,
  creditor_name text,
  creditor_account json,
  debtor_name text,
  debtor_account json,
  payment_id text,
  created_at timestamptz not null,
  foreign key (client_id, currency_account_id) references currency_accounts (client_id, account_id)
);
-- A statement reads the transactions of an account in a period, in order.
create index transactions_statement on transactions (client_id, currency_account_id, booking_datetime, id);

create table fx_availability (
  "only" boolean primary key default true check ("only"),
  mode text not null check (mode in ('auto', 'open', 'closed')),
  holidays date[] not null
);
insert into fx_availability (mode, holidays) values ('auto', '{}');

create table exchange_rates (
  base_currency text not null,
  currency text not null,
  rate numeric not null check (rate > 0),
  as_of timestamptz not null,
  primary key (base_currency, currency)
);

-- Where clients pay in. They stand once: those without a client are for all.
create table account_details (
  account_details_id uuid primary key,
  client_id text references clients,
  account_id uuid,
  currency text not null,
  country text not null,
  status text not null check (status in ('confirmed', 'pending', 'failed')),
  financial_institution_name text not null,
  account_holder_name text not null,
  -- Objects whose names stay in their order.
  domestic json,
  international json,
  bank_address_line_1 text,
  bank_address_line_2 text,
  bank_city text,
  bank_post_code text,
  created_at timestamptz not null
);
create index account_details_client on account_details (client_id, currency);

-- How currencies are settled and traded, and how the institution prices exchanges and chooses the schemes of payments. No row: the defaults.
create table currencies (
  currency text primary key,
  decimals smallint not null,
  cutoff_days smallint not null,
  -- `HH:MM` in the zone; null: no cut-off.
  cutoff_time text,
  cutoff_timezone text not null,
  -- Days of the week as ISO 8601 counts them.
  weekend smallint[] not null,
  -- Lists of objects keep their order and their texts.
  holidays json not null,
  minimum numeric,
  maximum numeric
);

create table pricing (
  "only" boolean primary key default true check ("only"),
  quote_seconds int not null,
  default_spread_bps int not null,
  rate_max_age_seconds int not null,
  spreads json not null
);

create table client_pricing (
  client_id text primary key references clients,
  spread_bps int,
  spreads json not null,
  -- Null: the client may act in all currencies.
  currencies json,
  default_currency text
);

create table payment_schemes (
  "only" boolean primary key default true check ("only"),
  -- The first rule that fits a payment decides. Amounts are texts.
  rules json not null
);

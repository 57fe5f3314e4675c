-- Beneficiaries, trades, multi payments, payments, mass-beneficiary instructions.
--
-- A client's tables have no foreign key to contacts, which stand once for all clients (ARCHITECTURE, Cells). Operations check the contact,
-- and none is ever deleted.

create table beneficiaries (
  beneficiary_id text primary key check (beneficiary_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  client_id text not null references clients,
  -- The number of its bank account, which is the order of insertion as well.
  account_id bigint generated always as identity,
  source text not null default 'institution' check (source in ('client', 'institution')),
  beneficiary_name text not null,
  beneficiary_aml_id text,
  country_code text,
  address_line_1 text,
  city text,
  state_region text,
  post_code text,
  email_notification boolean not null default false,
  email_addresses text[] not null default '{}',
  beneficiary_reference text,
  reference_information text,
  bank_country_code text,
  currency text,
  account_number text,
  iban text,
  bank_identifier text,
  swift_code text,
  correspondent_account text,
  correspondent_swift_code text,
  bank_name text,
  bank_address_line_1 text,
  purpose_of_payment text,
  reason_for_trade text,
  -- Made of name and account, so that equal ones are found (src/beneficiaries/account-key.ts).
  name_key text,
  paid_account text,
  paid_bank text,
  paid_bic text,
  paid_country text,
  active boolean not null,
  authorised boolean not null,
  blocked boolean not null,
  completed boolean not null,
  verified boolean not null,
  created_at timestamptz not null,
  unique (client_id, beneficiary_id)
);
-- The client's list and its filters, in order of insertion. Those that were deleted take no part.
create index beneficiaries_active on beneficiaries (client_id, account_id) where active;
create index beneficiaries_name on beneficiaries (client_id, name_key, account_id) where active;
create index beneficiaries_account_number on beneficiaries (client_id, account_number, account_id) where active and account_number is not null;
create index beneficiaries_iban on beneficiaries (client_id, iban, account_id) where active and iban is not null;
create index beneficiaries_bank on beneficiaries (client_id, bank_identifier, account_id) where active and bank_identifier is not null;
-- Accounts that nobody may pay.
create index beneficiaries_blocked on beneficiaries (client_id, paid_account) where blocked;

create table multipayments (
  multipayment_id bigint primary key default nextval('multipayment_numbers'),
  client_id text not null references clients,
  multipayment_unique_id uuid not null unique,
  contact_id text not null,
  status text not null check (status in ('created', 'rejected')),
  created_at timestamptz not null,
  rejected_at timestamptz,
  -- From when the exchanges of one that a client made bind; null: it has none, or the institution made it.
  binds_at timestamptz,
  unique (client_id, multipayment_id)
);

create table trades (
  trade_id text primary key check (trade_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  client_id text not null references clients,
  contact_id text not null,
  parent_trade_id text,
  status text not null check (status in ('Created', 'Funds In Partially', 'Funds In Full', 'Funds Out Partially Allocated',
    'Funds Out Full Allocated', 'Closed', 'Cancelled', 'Rejected')),
  trade_type text not null check (trade_type in ('spot', 'forward', 'window_forward', 'drawdown', 'ndf')),
  rate_symbol text not null,
  rate numeric not null,
  buy_currency text not null,
  sell_currency text not null,
  buy_amount numeric not null,
  sell_amount numeric not null,
  fee_amount numeric,
  fee_currency text,
  order_date date not null,
  maturity_date timestamptz,
  reference text,
  synthetic boolean not null,
  -- As the core sent them; null: the beneficiaries of the trade's payments.
  beneficiaries json,
  multipayment_id bigint,
  -- Who ordered it, and what a client gave with its order.
  source text not null default 'institution' check (source in ('client', 'institution')),
  reason text,
  external_reference_id text,
  funding_account_id bigint,
  quote_id text,
  value_date date,
  mass_payment_id uuid,
  -- It belongs to the one payment that was ordered from an account. It follows that payment, and nobody else uses it.
  single boolean not null default false,
  -- Somebody released the money that was held for it.
  hold_released boolean not null default false,
  -- What its live payments and drawdowns take of it, without the rows of trade_allocation_deltas (0007).
  allocated numeric not null default 0,
  created_at timestamptz not null,
  -- The order of insertion.
  id bigint generated always as identity,
  unique (client_id, trade_id),
  foreign key (client_id, parent_trade_id) references trades (client_id, trade_id),
  foreign key (client_id, multipayment_id) references multipayments (client_id, multipayment_id),
  constraint trades_parent_trade_id_check check ((trade_type = 'drawdown') = (parent_trade_id is not null))
);
-- Those that wait for their money: it is required of the client.
create index trades_unfunded on trades (client_id, sell_currency)
  where status in ('Created', 'Funds In Partially') and not single;
-- What clients have exchanged, and the core has not ended: the sandbox's autopilot looks at them.
create index trades_of_clients on trades (client_id, id) where source = 'client' and not single and status in ('Created', 'Funds In Full');
create index trades_multipayment on trades (client_id, multipayment_id) where multipayment_id is not null;
-- A trade that is removed must not be looked for among all of its client.
create index trades_parent on trades (client_id, parent_trade_id) where parent_trade_id is not null;
-- The client's list, in order of insertion.
create index trades_list on trades (client_id, id);
create index trades_status on trades (client_id, status, id);
create index trades_currency on trades (client_id, buy_currency, id);
-- Nearly all are spots, which are read in the order of the list.
create index trades_type on trades (client_id, trade_type, id) where trade_type <> 'spot';
create index trades_mass_payment on trades (client_id, mass_payment_id, id) where mass_payment_id is not null;
-- Two orders have two references.
create unique index trades_external_reference on trades (client_id, external_reference_id) where external_reference_id is not null;

create type payment_status as enum (
  'Payment pending of authorization', 'Validating beneficiary information', 'Need more beneficiary information',
  'Waiting for payment date', 'Executing Payment', 'Payment complete', 'Payment rejected', 'Payment cancelled');

create table payments (
  -- The order of insertion. It breaks ties in the search, and other tables refer to it.
  id bigint generated always as identity primary key,
  client_id text not null references clients,
  payment_id text not null unique check (payment_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  contact_id text not null,
  trade_id text not null,
  beneficiary_id text not null,
  -- The SWIFT UETR.
  uuid uuid not null unique,
  scheme text not null,
  amount numeric not null,
  payment_currency text not null,
  fee_amount numeric,
  fee_currency text,
  reference text,
  status payment_status not null,
  -- What the search filters by; `pending` is phases 1 and 2.
  phase smallint not null generated always as (case
    when status = 'Payment pending of authorization' then 1
    when status = 'Payment complete' then 3
    when status = 'Payment rejected' then 4
    when status = 'Payment cancelled' then 5
    else 2 end) stored,
  -- invalidated: the payment was cancelled by `invalidate`. returned: its money came back. return_started: its return has started and has not ended.
  invalidated boolean not null default false,
  return_started boolean not null default false,
  returned boolean not null default false,
  charges text,
  invoice_required boolean not null,
  ordered_by_name text not null,
  created timestamptz not null,
  payment_date date not null,
  authorised_by text,
  authorised_date timestamptz,
  cancelled_by text,
  cancelled_date timestamptz,
  rejected_by text,
  rejected_date timestamptz,
  -- Why a person rejected or cancelled it, in their words.
  reason text,
  -- Why its return started, as the institution said it.
  return_reason text,
  sent_date timestamptz,
  authorisation_workflow text not null,
  mass_payment_id uuid,
  mass_payment_external_reference_id text,
  multipayment_id bigint,
  -- Who ordered it, and what a client gave with its order. `reason` above is why a person rejected or cancelled it.
  source text not null default 'institution' check (source in ('client', 'institution')),
  order_reason text,
  purpose_of_payment text,
  email_beneficiary boolean,
  account_id bigint,
  funding_account_id bigint,
  quote_id text,
  request_index int,
  instruction_id text,
  end_to_end_id text,
  -- What the client said when it was asked for more.
  information text,
  -- Its trade is its own: `single` of trades.
  own_trade boolean not null default false,
  hold_released boolean not null default false,
  -- What it takes of its client's limit of the day, in the currency of the limit.
  limit_amount numeric,
  limit_currency text,
  -- Whom it pays, as the beneficiary was when the payment was created.
  beneficiary_name text not null,
  account_number text,
  iban text,
  swift_code text,
  bank_identifier text,
  foreign key (client_id, trade_id) references trades (client_id, trade_id),
  foreign key (client_id, beneficiary_id) references beneficiaries (client_id, beneficiary_id),
  foreign key (client_id, multipayment_id) references multipayments (client_id, multipayment_id)
);

-- The beneficiaries of each trade's payments, each once. Whoever creates a payment writes them with it. Finding them among the payments
-- would read all payments of the trade for each further one.
create table trade_beneficiaries (
  client_id text not null,
  trade_id text not null,
  -- In the order of its bytes, as an import sorts what it adds (src/exchange/trade-memory.ts).
  beneficiary_id text collate "C" not null,
  primary key (client_id, trade_id, beneficiary_id)
);

create table mass_beneficiaries (
  mass_beneficiary_id uuid primary key,
  client_id text not null references clients,
  status text not null check (status in ('queued', 'processing', 'created', 'failed')),
  created_at timestamptz not null,
  -- The contact who sent it, and its rows: in all, those that have become beneficiaries, those that could not. Null where the institution
  -- records it.
  created_by text,
  received int,
  made int,
  errored int
);
create index mass_beneficiaries_open on mass_beneficiaries (created_at)
  where created_by is not null and status in ('queued', 'processing');

create table mass_beneficiary_rows (
  client_id text not null references clients,
  mass_beneficiary_id uuid not null references mass_beneficiaries,
  request_index int not null,
  judged boolean not null default false,
  -- Until it is judged: the beneficiary that it would become, or what is wrong with it whatever the client has.
  fields json,
  faults json,
  beneficiary_id text,
  primary key (mass_beneficiary_id, request_index)
);

create table mass_beneficiary_errors (
  client_id text not null references clients,
  mass_beneficiary_id uuid not null references mass_beneficiaries,
  position int not null,
  code text not null,
  message text not null,
  details text not null,
  request_index int not null,
  primary key (mass_beneficiary_id, position)
);

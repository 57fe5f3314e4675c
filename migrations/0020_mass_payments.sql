-- Files of many payments (docs/files.md).

create table mass_payments (
  mass_payment_id uuid primary key,
  client_id text not null references clients,
  -- The client's own identifier. No two of its files ever have the same.
  external_reference_id text not null,
  status text not null check (status in ('Queued for processing', 'Processing', 'Processed', 'Queued for creating', 'Creating', 'Created',
    'Cancelled', 'Failed')),
  auto_commit boolean not null,
  -- Its rows are cells of a CSV.
  texts boolean not null default false,
  -- It had to wait for FX.
  waited boolean not null default false,
  -- It goes on without its bad rows.
  partial boolean not null default false,
  -- It was judged, and goes on by itself.
  proceeds boolean not null default false,
  -- Its maker has authorised its payments with a code.
  authorised boolean not null default false,
  sell_currency text,
  trade_id text,
  funding_account_id bigint,
  reason text not null,
  -- What its exchanges may cost: of its order until it is judged, then of its confirmation.
  maximum_sell_amount numeric,
  payment_initiation_id text,
  payment_information_id text,
  created_by text not null,
  created_at timestamptz not null,
  received int not null,
  processed int not null default 0,
  errored int not null default 0,
  made int not null default 0,
  trades int not null default 0,
  new_beneficiaries int not null default 0,
  -- What its trades sell; before they are booked an estimate, as of estimated_at.
  sell_amount numeric,
  estimated_at timestamptz,
  sums json not null default '[]',
  error json,
  unique (client_id, mass_payment_id),
  unique (client_id, external_reference_id)
);
create index mass_payments_newest on mass_payments (client_id, created_at desc, mass_payment_id desc);
create index mass_payments_initiation on mass_payments (client_id, payment_initiation_id) where payment_initiation_id is not null;
create index mass_payments_information on mass_payments (client_id, payment_information_id) where payment_information_id is not null;
create index mass_payments_open on mass_payments (created_at)
  where status in ('Queued for processing', 'Processing', 'Queued for creating', 'Creating') or proceeds;

create table mass_payment_rows (
  client_id text not null,
  mass_payment_id uuid not null,
  request_index int not null,
  -- As it was sent.
  sent json not null,
  -- What a file says of it besides the instruction.
  origin json,
  -- An earlier row is the same.
  duplicate boolean not null,
  -- What is wrong with it that its fields do not tell.
  faults json,
  -- Null: not judged.
  status text check (status in ('valid', 'invalid', 'created')),
  errors json,
  -- Why its day is not the one that it asks for.
  warning text,
  currency text,
  amount numeric,
  -- Who is paid, where the payee existed when it was judged.
  beneficiary_id text,
  -- The name of a payee that would be new.
  new_payee text,
  -- Its currency is bought, by this trade once it is booked.
  exchanged boolean,
  trade_id text,
  -- What it takes of the limit of the day, from the moment when its exchanges are booked.
  limit_amount numeric,
  limit_currency text,
  payment_id text,
  primary key (client_id, mass_payment_id, request_index),
  foreign key (client_id, mass_payment_id) references mass_payments (client_id, mass_payment_id)
);
create index mass_payment_rows_payee on mass_payment_rows (client_id, beneficiary_id) where status = 'valid';
create index mass_payment_rows_limit on mass_payment_rows (client_id) where status = 'valid' and limit_amount is not null;

-- Messages pain.001 that were taken. The mass payments of their blocks name them.
create table payment_initiations (
  client_id text not null references clients,
  -- MsgId. No two messages of a client ever have the same.
  message_id text not null,
  -- Its kind, and its group header as it was written.
  message text not null,
  written_at text not null,
  transactions text not null,
  control_sum text,
  -- Its blocks: PmtInfId, totals, and the mass payment, or why there is none.
  blocks json not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (client_id, message_id)
);

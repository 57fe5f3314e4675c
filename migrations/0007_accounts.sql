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
  -- How many transactions of each kind it has: its clients ask for totals.
  booked_credit bigint not null default 0,
  booked_debit bigint not null default 0,
  booked_incoming bigint not null default 0,
  booked_margin bigint not null default 0,
  booked_payment_returned bigint not null default 0,
  -- The sum of its open holds.
  held numeric not null default 0,
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
  trade_id text,
  created_at timestamptz not null,
  foreign key (client_id, currency_account_id) references currency_accounts (client_id, account_id)
);
-- A statement reads the transactions of an account in a period, in order.
create index transactions_statement on transactions (client_id, currency_account_id, booking_datetime, id);
-- A client looks through those of an account, of all kinds or of some, by value date.
create index transactions_value on transactions (client_id, currency_account_id, kind, value_datetime, id);
-- What was debited for a trade.
create index transactions_trade on transactions (client_id, trade_id) where trade_id is not null;

-- Money of an account that an order of a client has taken: of a payment, or of a trade.
create table holds (
  hold_id uuid primary key,
  client_id text not null references clients,
  currency_account_id bigint not null,
  payment_id text,
  trade_id text,
  amount numeric not null,
  currency text not null,
  opened_at timestamptz not null,
  -- Since its payment was sent, or its trade was closed. Nothing but its debit is awaited then.
  executed_at timestamptz,
  closed_at timestamptz,
  -- A transaction_id, the action of the payment, the status of the trade, or `release`.
  closed_by text,
  -- The order of opening.
  id bigint generated always as identity,
  foreign key (client_id, currency_account_id) references currency_accounts (client_id, account_id),
  constraint holds_payment_id_check check ((payment_id is null) <> (trade_id is null))
);
create index holds_opened on holds (opened_at, id);
create index holds_client on holds (client_id, opened_at, id);
create index holds_account on holds (client_id, currency_account_id, opened_at, id);
create index holds_open on holds (client_id, opened_at, id) where closed_at is null;
create index holds_payment on holds (client_id, payment_id) where closed_at is null and payment_id is not null;
create index holds_trade on holds (client_id, trade_id) where closed_at is null and trade_id is not null;
create index holds_executed on holds (executed_at) where closed_at is null and executed_at is not null;

-- What payments and drawdowns take of their trades, until it is rolled up into `allocated` of trades. Rows are only appended, so that the
-- institution's payments of one trade never wait for each other. Who orders locks the trade, and then reads both.
create table trade_allocation_deltas (
  client_id text not null,
  trade_id text not null,
  amount numeric not null,
  at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity,
  primary key (client_id, id)
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000000);
create index trade_allocation_deltas_trade on trade_allocation_deltas (client_id, trade_id);

-- A payment is live unless it was rejected (phase 4), cancelled or invalidated (phase 5). A returned one stays live.
create function payments_allocate_inserted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into trade_allocation_deltas
    select client_id, trade_id, sum(amount) from added where phase not in (4, 5) group by client_id, trade_id;
  return null;
end $$;
create function payments_allocate_ended() returns trigger language plpgsql as $$
begin
  insert into trade_allocation_deltas values (new.client_id, new.trade_id, -new.amount);
  return null;
end $$;
create trigger payments_allocate_inserted after insert on payments
  referencing new table as added for each statement execute function payments_allocate_inserted();
create trigger payments_allocate_ended after update on payments for each row
  when (old.phase not in (4, 5) and new.phase in (4, 5) and not old.return_started)
  execute function payments_allocate_ended();

-- How many trades a client has, of each kind that a list of them asks for: totals of payments are kept in the same way (0005).
create table trade_totals (
  client_id text not null,
  trade_type text not null,
  status text not null,
  buy_currency text not null,
  n bigint not null,
  primary key (client_id, trade_type, status, buy_currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create table trade_total_deltas (
  client_id text not null,
  trade_type text not null,
  status text not null,
  buy_currency text not null,
  n bigint not null,
  at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity,
  primary key (client_id, id)
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000000);

-- What drawdowns take of their trades, and how many trades there are: one trigger costs less than two.
create function trades_count_inserted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into trade_allocation_deltas
    select client_id, parent_trade_id, sum(buy_amount) from added
    where parent_trade_id is not null and status not in ('Cancelled', 'Rejected') group by client_id, parent_trade_id;
  insert into trade_total_deltas
    select client_id, trade_type, status, buy_currency, count(*) from added group by client_id, trade_type, status, buy_currency;
  return null;
end $$;
create function trades_count_changed() returns trigger language plpgsql as $$
begin
  insert into trade_total_deltas values
    (new.client_id, new.trade_type, new.status, new.buy_currency, 1), (old.client_id, old.trade_type, old.status, old.buy_currency, -1);
  return null;
end $$;
create function trades_count_deleted() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.totals_move', true) = 'on' then return null; end if;
  insert into trade_total_deltas
    select client_id, trade_type, status, buy_currency, -count(*) from removed group by client_id, trade_type, status, buy_currency;
  return null;
end $$;
create function trades_allocate_changed() returns trigger language plpgsql as $$
begin
  insert into trade_allocation_deltas values (new.client_id, new.parent_trade_id,
    case when new.status in ('Cancelled', 'Rejected') then -new.buy_amount else new.buy_amount end);
  return null;
end $$;
create trigger trades_count_inserted after insert on trades
  referencing new table as added for each statement execute function trades_count_inserted();
create trigger trades_count_changed after update on trades for each row
  when ((old.client_id, old.trade_type, old.status, old.buy_currency) is distinct from
    (new.client_id, new.trade_type, new.status, new.buy_currency))
  execute function trades_count_changed();
create trigger trades_count_deleted after delete on trades
  referencing old table as removed for each statement execute function trades_count_deleted();
create trigger trades_allocate_changed after update on trades for each row
  when (new.parent_trade_id is not null
    and (old.status in ('Cancelled', 'Rejected')) is distinct from (new.status in ('Cancelled', 'Rejected')))
  execute function trades_allocate_changed();

-- Rolls up to `most` of them into the trades, and returns how many. It leaves trades alone that somebody holds: the next run has them.
-- A trade is looked up by its key, one after the other: a join would read all trades.
create function roll_up_trade_allocations(most int) returns bigint language plpgsql set enable_seqscan = off as $$
declare
  taken bigint := 0;
  rolled record;
begin
  for rolled in
    with wanted as materialized (
      select client_id, trade_id, id from trade_allocation_deltas order by client_id, id limit most),
    locked as materialized (
      select t.client_id, t.trade_id from (select distinct client_id, trade_id from wanted order by client_id, trade_id) w
        cross join lateral (select client_id, trade_id from trades
          where client_id = w.client_id and trade_id = w.trade_id offset 0 for no key update skip locked) t),
    gone as (
      delete from trade_allocation_deltas d using wanted w join locked l using (client_id, trade_id)
      where d.client_id = w.client_id and d.id = w.id returning d.client_id, d.trade_id, d.amount)
    select client_id, trade_id, sum(amount) as amount, count(*) as deltas from gone group by client_id, trade_id
  loop
    update trades set allocated = allocated + rolled.amount where client_id = rolled.client_id and trade_id = rolled.trade_id;
    taken := taken + rolled.deltas;
  end loop;
  return taken;
end $$;

-- Rolls up to `most` of them, as roll_up_payment_totals does.
create function roll_up_trade_totals(most int) returns bigint language plpgsql set enable_seqscan = off as $$
declare
  batch trade_total_deltas[];
begin
  with taken as (
    delete from trade_total_deltas where ctid = any (array(select ctid from trade_total_deltas order by client_id limit most)) returning *
  ) select array_agg(taken::trade_total_deltas) into batch from taken;
  if batch is null then
    return 0;
  end if;
  merge into trade_totals as t
  using (
    select client_id, trade_type, status, buy_currency, sum(n) as n from unnest(batch) group by 1, 2, 3, 4 having sum(n) <> 0) as b
  on t.client_id = b.client_id and t.trade_type = b.trade_type and t.status = b.status and t.buy_currency = b.buy_currency
  when matched then update set n = t.n + b.n
  when not matched then insert (client_id, trade_type, status, buy_currency, n)
    values (b.client_id, b.trade_type, b.status, b.buy_currency, b.n);
  return cardinality(batch);
end $$;

insert into trade_total_deltas (client_id, trade_type, status, buy_currency, n)
  select client_id, trade_type, status, buy_currency, count(*) from trades group by 1, 2, 3, 4;

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

-- What a forward adds to the rate of a pair, by days from today.
create table forward_points (
  sell_currency text not null,
  buy_currency text not null,
  -- Objects, by days. Points are texts.
  points json not null,
  primary key (sell_currency, buy_currency)
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

-- What an exchange would cost, as it was promised to a client. One of them is one trade.
create table quotes (
  quote_id text primary key,
  client_id text not null references clients,
  contact_id text not null,
  trade_id text,
  trade_type text not null check (trade_type in ('spot', 'forward')),
  operation text not null check (operation in ('buy', 'sell')),
  -- Bought units for one sold, and the other way round.
  rate numeric not null,
  inverse_rate numeric not null,
  buy_amount numeric not null,
  buy_currency text not null,
  sell_amount numeric not null,
  sell_currency text not null,
  value_date date not null,
  maturity_date timestamptz not null,
  warning text,
  -- Whole seconds, as they are shown.
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Only the institution sees how the rate was made.
  mid numeric not null,
  spread_bps int not null,
  rate_as_of timestamptz not null,
  -- The order of insertion.
  id bigint generated always as identity,
  unique (client_id, quote_id)
);
create index quotes_created on quotes (created_at, id);
create index quotes_client on quotes (client_id, created_at, id);
create index quotes_open on quotes (client_id, contact_id, expires_at) where trade_id is null;

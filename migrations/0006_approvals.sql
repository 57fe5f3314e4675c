-- Configurations as versions; what each payment requires and has; who may act now (docs/approvals.md).

create table approval_configurations (
  client_id text not null references clients,
  version int not null,
  -- Unique over all databases, so that a process may keep what it read of a configuration as long as it likes.
  id uuid not null unique,
  configuration json not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (client_id, version)
);

-- A row only where an approval is or was needed. The requirement is frozen when the payment is created.
create table payment_approvals (
  payment_id bigint primary key references payments (id),
  client_id text not null references clients,
  -- Eyes, or which rule of which configuration; people and groups stand in the configuration, once.
  requirement json not null,
  -- As the search shows it: {date, status, contact_id, level, contact_name}.
  authorisations json not null,
  remaining int not null,
  -- n_eyes_plus_status
  status text not null check (status in ('Pending approval', 'Approved', 'Rejected', 'Cancelled')),
  -- Payments with the same one have the same approvers: a hash of all that decides who may act, besides the permissions.
  state bytea not null default ''
);
create index payment_approvals_pending on payment_approvals (client_id, state, payment_id) where status = 'Pending approval';

-- Who may act on a payment that is pending of authorization, so that `pending_your_approval` is an index scan. It follows from
-- payment_approvals and the permissions and is written with them; foreign keys would only make 200,000 rows slower.
create table payment_approvers (
  client_id text not null,
  contact_id text not null,
  payment_id bigint not null,
  created timestamptz not null,
  payment_date date not null,
  may_authorise boolean not null,
  may_reject boolean not null,
  primary key (client_id, payment_id, contact_id)
);
create index payment_approvers_created on payment_approvers (client_id, contact_id, created, payment_id) where may_authorise;
create index payment_approvers_payment_date on payment_approvers (client_id, contact_id, payment_date, payment_id) where may_authorise;

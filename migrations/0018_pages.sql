-- What the pages in the browser need: verification codes for approvals, and mails.

-- A challenge before an approval. It is good for one contact and for the payments that step_up_payments names, while each is what it was
-- then. One for a file names the file, and what its rows were.
create table step_up_challenges (
  challenge_sha256 bytea primary key,
  client_id text not null references clients,
  contact_id text not null,
  kind text not null check (kind in ('totp', 'sms')),
  mass_payment_id uuid,
  content_sha256 bytea,
  -- Hashed together with the challenge, because the hash of six digits alone is easily reversed.
  code_sha256 bytea,
  attempts int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index step_up_challenges_expires_at on step_up_challenges (expires_at);

create table step_up_payments (
  challenge_sha256 bytea not null references step_up_challenges on delete cascade,
  client_id text not null,
  payment_id bigint not null,
  -- What the contact was shown.
  amount numeric not null,
  payment_currency text not null,
  account jsonb not null,
  status payment_status not null,
  primary key (challenge_sha256, payment_id)
);

-- When each contact was last sent a code for an approval by text message.
create table step_up_texts (
  contact_id text primary key references contacts,
  sent_at timestamptz not null
);

-- Payments that contacts may authorise and are told of by mail. A row stays while the payment waits, so that nobody is told twice.
create table payment_notices (
  id bigint generated always as identity primary key,
  client_id text not null references clients,
  payment_id bigint not null,
  contact_id text not null,
  -- The mail that tells; null: none does yet.
  mail_id bigint,
  unique (client_id, payment_id, contact_id)
);
create index payment_notices_untold on payment_notices (contact_id, id) where mail_id is null;
create index payment_notices_mail on payment_notices (mail_id) where mail_id is not null;

-- Mails to contacts, until the mail server has accepted them. Their texts are written when they are sent.
create table mails (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('waiting', 'rejection', 'password', 'invitation')),
  contact_id text not null references contacts,
  -- Of a rejection.
  client_id text references clients,
  payment_id bigint,
  created_at timestamptz not null,
  due_at timestamptz not null,
  attempts int not null default 0,
  -- `dropped`: there was nothing left to tell.
  state text not null default 'due' check (state in ('due', 'sent', 'failed', 'dropped')),
  ended_at timestamptz,
  last_error text
);
create index mails_due on mails (due_at, id) where state = 'due';
create index mails_contact on mails (contact_id, kind, created_at);
create index mails_ended on mails (ended_at) where ended_at is not null;

-- Forgotten passwords: who asked, whatever the address; the worker finds out later whether it is a contact's.
create table password_requests (
  id bigint generated always as identity primary key,
  -- In small letters.
  email text not null,
  at timestamptz not null,
  -- Whether a mail was made; null: not looked at yet.
  mailed boolean
);
create index password_requests_open on password_requests (id) where mailed is null;
create index password_requests_email on password_requests (email, at) where mailed;
create index password_requests_at on password_requests (at);

-- The link of a contact's newest mail.
create table password_links (
  contact_id text primary key references contacts,
  token_sha256 bytea not null unique,
  mail_id bigint not null,
  -- The address that the mail went to.
  email text not null,
  expires_at timestamptz not null
);
create index password_links_expires_at on password_links (expires_at);

-- The clients' pages, which every installation has. Their sessions are exchanged for within the service: the application has no secret,
-- so nobody else can exchange a code of it. Its redirect address is the service's own (identity/page-session.ts).
insert into applications (client_id, name, redirect_uris, refresh_token_days, headless_sign_in, require_pkce, created_at)
values ('lombard-app', 'Lombard', '{}', 28, false, true, now());

-- A browser that is signed in to the pages. Its calls are those of an access token that nobody has: only its hash was ever stored.
create table page_sessions (
  id uuid primary key,
  secret_sha256 bytea not null unique,
  grant_id bigint not null references grants on delete cascade,
  contact_id text not null references contacts,
  token_sha256 bytea not null,
  -- The browser's own name of itself.
  browser text not null,
  created_at timestamptz not null,
  last_active_at timestamptz not null,
  expires_at timestamptz not null
);
create index page_sessions_contact on page_sessions (contact_id);
create index page_sessions_grant on page_sessions (grant_id);
create index page_sessions_expires_at on page_sessions (expires_at);

-- When a payee's name or account was changed, and which of them: payments that are made soon after are marked for their approvers.
create table beneficiary_changes (
  client_id text not null,
  beneficiary_id text not null,
  at timestamptz not null,
  fields text[] not null,
  id bigint generated always as identity,
  primary key (client_id, beneficiary_id, at, id),
  foreign key (client_id, beneficiary_id) references beneficiaries (client_id, beneficiary_id)
);

-- Whether a beneficiary was ever paid: the first payment to it is marked.
create index payments_sent on payments (client_id, beneficiary_id) where sent_date is not null;

-- What each contact did with payments. Foreign keys would only slow down imports of decisions.
create table payment_decisions (
  client_id text not null,
  contact_id text not null,
  at timestamptz not null,
  payment_id bigint not null,
  action text not null check (action in ('authorise', 'reject', 'cancel')),
  -- The institution did it in the contact's name.
  on_behalf boolean not null,
  id bigint generated always as identity,
  primary key (client_id, contact_id, at, payment_id, id)
);

-- Codes that a contact noted when it set an authenticator up. Each signs in once in place of a code of the authenticator.
create table recovery_codes (
  contact_id text not null references contacts,
  -- Hashed with the contact: 66 random bits need no slow hash.
  code_sha256 bytea not null,
  primary key (contact_id, code_sha256)
);

-- They end with the authenticator that they stand for. One that is only sealed with another master key is the same.
create function forget_recovery_codes() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.keys', true) is distinct from 'rotate' then
    delete from recovery_codes where contact_id = new.contact_id;
  end if;
  return null;
end $$;
create trigger contacts_authenticator_changed after update of second_factor, totp_secret on contacts for each row
  when (old.second_factor is distinct from new.second_factor or old.totp_secret is distinct from new.totp_secret)
  execute function forget_recovery_codes();

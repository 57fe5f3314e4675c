-- What the pages in the browser need: verification codes for approvals.

-- A challenge before an approval. It is good for one contact and one payment, while the payment is what it was then.
create table step_up_challenges (
  challenge_sha256 bytea primary key,
  client_id text not null references clients,
  contact_id text not null references contacts,
  payment_id bigint not null,
  kind text not null check (kind in ('totp', 'sms')),
  -- What the contact was shown.
  amount numeric not null,
  payment_currency text not null,
  account jsonb not null,
  status payment_status not null,
  -- Hashed together with the challenge, because the hash of six digits alone is easily reversed.
  code_sha256 bytea,
  attempts int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index step_up_challenges_expires_at on step_up_challenges (expires_at);

-- When each contact was last sent a code for an approval by text message.
create table step_up_texts (
  contact_id text primary key references contacts,
  sent_at timestamptz not null
);

-- Signing in: requests, codes, grants, tokens, second-factor handles, browser sessions, guesses, and the version that caches watch.

-- A page's authorization request, until it is signed in. Bound to the browser that asked.
create table sign_in_requests (
  request_sha256 bytea primary key,
  browser_sha256 bytea not null,
  application_id text not null references applications (client_id) on delete cascade,
  redirect_uri text not null,
  state text not null,
  nonce text,
  code_challenge text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index sign_in_requests_expires_at on sign_in_requests (expires_at);

-- A good password that still needs its second factor. The handle opens nothing else.
create table second_factor_handles (
  handle_sha256 bytea primary key,
  -- Null until a browser opens the page of a handle that was made without one.
  browser_sha256 bytea,
  application_id text not null references applications (client_id) on delete cascade,
  contact_id text not null references contacts,
  kind text not null check (kind in ('totp', 'sms')),
  redirect_uri text not null,
  state text not null,
  nonce text,
  code_challenge text,
  -- Hashed together with the handle: six digits alone would be found at once.
  sms_code_sha256 bytea,
  sms_sent_at timestamptz,
  tries int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index second_factor_handles_expires_at on second_factor_handles (expires_at);
create index second_factor_handles_texts on second_factor_handles (contact_id, sms_sent_at) where kind = 'sms';

create table authorization_codes (
  code_sha256 bytea primary key,
  application_id text not null references applications (client_id) on delete cascade,
  contact_id text not null references contacts,
  redirect_uri text not null,
  nonce text,
  code_challenge text,
  methods text[] not null,
  authenticated_at timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index authorization_codes_expires_at on authorization_codes (expires_at);

-- What one sign-in gave an application; revoking it revokes every token of it.
create table grants (
  id bigint generated always as identity primary key,
  application_id text not null references applications (client_id) on delete cascade,
  contact_id text not null references contacts,
  -- The code it came from: the code's second use finds the grant by it.
  code_sha256 bytea unique,
  -- Given over mutual TLS for a contact (POST /token/{contact_id}): lives there only.
  trusted boolean not null,
  methods text[] not null,
  authenticated_at timestamptz not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index grants_contact on grants (contact_id) where revoked_at is null;

create table refresh_tokens (
  -- The order of issue: fewer than ten above it, for the same application and contact, and it is accepted.
  id bigint generated always as identity primary key,
  token_sha256 bytea not null unique,
  grant_id bigint not null references grants on delete cascade,
  application_id text not null,
  contact_id text not null,
  issued_at timestamptz not null
);
create index refresh_tokens_newest on refresh_tokens (application_id, contact_id, id desc);
create index refresh_tokens_grant on refresh_tokens (grant_id);

create table access_tokens (
  token_sha256 bytea primary key,
  grant_id bigint not null references grants on delete cascade,
  application_id text not null,
  contact_id text not null,
  -- SHA-256 of the certificate it is bound to (RFC 8705), base64url.
  thumbprint text,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index access_tokens_grant on access_tokens (grant_id);
create index access_tokens_expires_at on access_tokens (expires_at);

-- One sign-in for several applications, where the operator allows it.
create table browser_sessions (
  session_sha256 bytea primary key,
  contact_id text not null references contacts,
  methods text[] not null,
  authenticated_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index browser_sessions_contact on browser_sessions (contact_id);
create index browser_sessions_expires_at on browser_sessions (expires_at);

-- Wrong guesses of the last minutes and guesses under way, of a password (by email) or a second factor (by contact).
create table guesses (
  id bigint generated always as identity primary key,
  subject bytea not null,
  at timestamptz not null,
  wrong boolean not null
);
create index guesses_subject on guesses (subject, at);
create index guesses_at on guesses (at);
create table guess_locks (
  subject bytea primary key,
  until timestamptz not null
);

-- Begins a guess. Whether it may go on is decided under a lock of its subject, so that any number of processes count as one.
-- Gives a guess id; or null and locked_until; or null twice: wait, so many are under way that one of them could be one too many.
create function begin_guess(p_subject bytea, p_now timestamptz, p_most int, p_window interval, p_abandoned interval,
  out guess_id bigint, out locked_until timestamptz) language plpgsql as $$
declare
  wrong_ones int;
  under_way int;
begin
  -- A count that a crash of the database forgets is no loss; an fsync for each guess would be one.
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(7210439, hashtext(encode(p_subject, 'hex')));
  select l.until into locked_until from guess_locks l where l.subject = p_subject and l.until > p_now;
  if locked_until is not null then return; end if;
  select count(*) filter (where g.wrong), count(*) filter (where not g.wrong and g.at > p_now - p_abandoned)
    into wrong_ones, under_way
    from guesses g where g.subject = p_subject and g.at > p_now - p_window and g.at <= p_now + p_window;
  if wrong_ones + under_way < p_most then
    insert into guesses (subject, at, wrong) values (p_subject, p_now, false) returning id into guess_id;
  end if;
end $$;

-- Ends a guess: a right one is forgotten, a wrong one stays, and the last one that is allowed locks.
create function end_guess(p_id bigint, p_subject bytea, p_right boolean, p_now timestamptz, p_most int, p_window interval)
  returns boolean language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  if p_right then
    delete from guesses where id = p_id;
    return false;
  end if;
  perform pg_advisory_xact_lock(7210439, hashtext(encode(p_subject, 'hex')));
  update guesses set wrong = true where id = p_id;
  if (select count(*) from guesses where subject = p_subject and wrong and at > p_now - p_window) < p_most then return false; end if;
  insert into guess_locks (subject, until) values (p_subject, p_now + p_window)
    on conflict (subject) do update set until = excluded.until;
  delete from guesses where subject = p_subject and wrong;
  return true;
end $$;

-- Every process keeps sessions and applications in memory as long as this number stands. It is raised when a transaction that
-- changed what they hold commits: deferred, so that its lock is the last one taken, and once a transaction.
create table identity_version (
  single boolean primary key default true check (single),
  version bigint not null
);
insert into identity_version (version) values (1);

create function raise_identity_version() returns trigger language plpgsql as $$
begin
  update identity_version set version = version + 1 where xmin <> pg_current_xact_id()::xid;
  return null;
end $$;

create constraint trigger clients_identity after update on clients deferrable initially deferred for each row
  when (old.client_name is distinct from new.client_name or old.status is distinct from new.status)
  execute function raise_identity_version();
create constraint trigger contacts_identity after update on contacts deferrable initially deferred for each row
  when (old.status is distinct from new.status or old.trusted_access is distinct from new.trusted_access)
  execute function raise_identity_version();
create constraint trigger contact_clients_identity after insert or update or delete on contact_clients
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger applications_identity after update or delete on applications
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger application_secrets_identity after insert or update or delete on application_secrets
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger application_certificates_identity after insert or delete on application_certificates
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger application_trusted_clients_identity after insert or delete on application_trusted_clients
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger grants_identity after update of revoked_at on grants
  deferrable initially deferred for each row execute function raise_identity_version();
create constraint trigger access_tokens_identity after update of revoked_at on access_tokens
  deferrable initially deferred for each row execute function raise_identity_version();

-- Whoever changes a password wants to be rid of those who knew the old one.
create function end_sign_ins() returns trigger language plpgsql as $$
begin
  update grants set revoked_at = now() where contact_id = new.contact_id and revoked_at is null;
  update browser_sessions set ended_at = now() where contact_id = new.contact_id and ended_at is null;
  delete from second_factor_handles where contact_id = new.contact_id;
  delete from authorization_codes where contact_id = new.contact_id and used_at is null;
  return null;
end $$;
create trigger contacts_password_changed after update of password_hash on contacts for each row
  when (old.password_hash is distinct from new.password_hash) execute function end_sign_ins();

-- A new authenticator has used no step yet.
create function forget_totp_step() returns trigger language plpgsql as $$
begin
  new.totp_last_step := null;
  return new;
end $$;
create trigger contacts_totp_changed before update of totp_secret on contacts for each row
  when (old.totp_secret is distinct from new.totp_secret) execute function forget_totp_step();

-- Sign-in: requests, challenges, codes, grants, tokens, browser sessions, attempts, and the version that caches watch.

-- The authorization request of a page, until the visitor signs in. It is bound to the browser that opened the page.
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

-- A sign-in whose password was right and whose second factor is still missing. The challenge grants nothing else.
create table second_factor_challenges (
  challenge_sha256 bytea primary key,
  -- Null for a headless sign-in, until a browser opens the page of the challenge.
  browser_sha256 bytea,
  application_id text not null references applications (client_id) on delete cascade,
  contact_id text not null references contacts,
  kind text not null check (kind in ('totp', 'sms')),
  redirect_uri text not null,
  state text not null,
  nonce text,
  code_challenge text,
  -- Hashed together with the challenge, because the hash of six digits alone is easily reversed.
  sms_code_sha256 bytea,
  sms_sent_at timestamptz,
  attempts int not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index second_factor_challenges_expires_at on second_factor_challenges (expires_at);
create index second_factor_challenges_texts on second_factor_challenges (contact_id, sms_sent_at) where kind = 'sms';

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

-- What one sign-in granted to an application. Revoking a grant revokes all its tokens.
create table grants (
  id bigint generated always as identity primary key,
  application_id text not null references applications (client_id) on delete cascade,
  contact_id text not null references contacts,
  -- The code that it was exchanged for. A second use of the code finds the grant by it.
  code_sha256 bytea unique,
  -- Granted over mutual TLS for a contact (POST /token/{contact_id}), and usable over mutual TLS only.
  trusted boolean not null,
  methods text[] not null,
  authenticated_at timestamptz not null,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create index grants_contact on grants (contact_id) where revoked_at is null;

create table refresh_tokens (
  -- The order of issue. A token is accepted while fewer than ten of the same application and contact are newer.
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
  -- SHA-256 of the certificate that the token is bound to (RFC 8705), base64url.
  thumbprint text,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index access_tokens_grant on access_tokens (grant_id);
create index access_tokens_expires_at on access_tokens (expires_at);

-- Single sign-on for several applications, where the operator allows it.
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

-- Failed attempts of the last minutes and attempts in flight, at a password (by email) or a second factor (by contact).
create table limited_attempts (
  id bigint generated always as identity primary key,
  subject bytea not null,
  at timestamptz not null,
  failed boolean not null
);
create index limited_attempts_subject on limited_attempts (subject, at);
create index limited_attempts_at on limited_attempts (at);
create table attempt_locks (
  subject bytea primary key,
  until timestamptz not null
);

-- Begins an attempt. A lock on the subject makes all processes count together.
-- Gives an attempt_id; or null and locked_until; or null twice, which means: wait, because those in flight could exhaust the limit.
create function begin_attempt(p_subject bytea, p_now timestamptz, p_max int, p_window interval, p_abandoned interval,
  out attempt_id bigint, out locked_until timestamptz) language plpgsql as $$
declare
  failures int;
  in_flight int;
begin
  -- Losing a count when the database crashes does no harm, and an fsync for each attempt would be expensive.
  perform set_config('synchronous_commit', 'off', true);
  perform pg_advisory_xact_lock(7210439, hashtext(encode(p_subject, 'hex')));
  select l.until into locked_until from attempt_locks l where l.subject = p_subject and l.until > p_now;
  if locked_until is not null then return; end if;
  select count(*) filter (where a.failed), count(*) filter (where not a.failed and a.at > p_now - p_abandoned)
    into failures, in_flight
    from limited_attempts a where a.subject = p_subject and a.at > p_now - p_window and a.at <= p_now + p_window;
  if failures + in_flight < p_max then
    insert into limited_attempts (subject, at, failed) values (p_subject, p_now, false) returning id into attempt_id;
  end if;
end $$;

-- Ends an attempt. A right one is deleted and a failed one is kept. The last failure that is allowed locks the subject.
create function end_attempt(p_id bigint, p_subject bytea, p_succeeded boolean, p_now timestamptz, p_max int, p_window interval)
  returns boolean language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  if p_succeeded then
    delete from limited_attempts where id = p_id;
    return false;
  end if;
  perform pg_advisory_xact_lock(7210439, hashtext(encode(p_subject, 'hex')));
  update limited_attempts set failed = true where id = p_id;
  if (select count(*) from limited_attempts where subject = p_subject and failed and at > p_now - p_window) < p_max then
    return false;
  end if;
  insert into attempt_locks (subject, until) values (p_subject, p_now + p_window)
    on conflict (subject) do update set until = excluded.until;
  delete from limited_attempts where subject = p_subject and failed;
  return true;
end $$;

-- Every process caches sessions and applications, and polls what changed. A transaction that changes one of them raises the version
-- once, in a deferred trigger, so that the row lock is the last one that the transaction takes. Versions are therefore complete and in
-- the order of the commits.
create table identity_version (
  single boolean primary key default true check (single),
  version bigint not null
);
insert into identity_version (version) values (1);

-- What each version changed: `contact:CON000001`, `application:...` or `client:...`. Kept for a minute: a process that has not looked
-- for so long reads everything again.
create table identity_changes (
  version bigint not null,
  subject text not null,
  at timestamptz not null default clock_timestamp(),
  primary key (version, subject)
);

-- Arguments: the kind of subject, and the column that names it.
create function raise_identity_version() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  if tg_op = 'DELETE' then changed := to_jsonb(old); else changed := to_jsonb(new); end if;
  update identity_version set version = version + 1 where xmin <> pg_current_xact_id()::xid;
  insert into identity_changes (version, subject)
    select version, tg_argv[0] || ':' || (changed ->> tg_argv[1]) from identity_version on conflict do nothing;
  return null;
end $$;

create constraint trigger clients_identity after update on clients deferrable initially deferred for each row
  when (old.client_name is distinct from new.client_name or old.status is distinct from new.status or old.cell is distinct from new.cell
    or old.moves_to is distinct from new.moves_to or old.approval_step_up is distinct from new.approval_step_up)
  execute function raise_identity_version('client', 'client_id');
create constraint trigger contacts_identity after update on contacts deferrable initially deferred for each row
  when (old.status is distinct from new.status or old.trusted_access is distinct from new.trusted_access
    or old.second_factor is distinct from new.second_factor)
  execute function raise_identity_version('contact', 'contact_id');
create constraint trigger contact_clients_identity after insert or update or delete on contact_clients
  deferrable initially deferred for each row execute function raise_identity_version('contact', 'contact_id');
create constraint trigger applications_identity after update or delete on applications
  deferrable initially deferred for each row execute function raise_identity_version('application', 'client_id');
create constraint trigger application_secrets_identity after insert or update or delete on application_secrets
  deferrable initially deferred for each row execute function raise_identity_version('application', 'application_id');
create constraint trigger application_certificates_identity after insert or delete on application_certificates
  deferrable initially deferred for each row execute function raise_identity_version('application', 'application_id');
create constraint trigger application_trusted_clients_identity after insert or delete on application_trusted_clients
  deferrable initially deferred for each row execute function raise_identity_version('application', 'application_id');
create constraint trigger grants_identity after update of revoked_at on grants
  deferrable initially deferred for each row execute function raise_identity_version('contact', 'contact_id');
create constraint trigger access_tokens_identity after update of revoked_at on access_tokens
  deferrable initially deferred for each row execute function raise_identity_version('contact', 'contact_id');

-- A new password signs out everybody who used the old one.
create function end_sign_ins() returns trigger language plpgsql as $$
begin
  update grants set revoked_at = now() where contact_id = new.contact_id and revoked_at is null;
  update browser_sessions set ended_at = now() where contact_id = new.contact_id and ended_at is null;
  delete from second_factor_challenges where contact_id = new.contact_id;
  delete from authorization_codes where contact_id = new.contact_id and used_at is null;
  return null;
end $$;
create trigger contacts_password_changed after update of password_hash on contacts for each row
  when (old.password_hash is distinct from new.password_hash) execute function end_sign_ins();

-- A new TOTP secret starts without a used step. One that is only sealed with another master key is the same secret.
create function forget_totp_step() returns trigger language plpgsql as $$
begin
  if current_setting('lombard.keys', true) is distinct from 'rotate' then new.totp_last_step := null; end if;
  return new;
end $$;
create trigger contacts_totp_changed before update of totp_secret on contacts for each row
  when (old.totp_secret is distinct from new.totp_secret) execute function forget_totp_step();

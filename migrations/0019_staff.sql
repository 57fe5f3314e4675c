-- The institution's pages at /console.

-- The person is one of the institution's OpenID provider, or whoever has an operator token.
create table staff_sessions (
  id uuid primary key,
  secret_sha256 bytea not null unique,
  token_id text references operator_tokens,
  -- The value that it had: another value of the same token ends the session.
  token_sha256 bytea,
  issuer text,
  subject text,
  name text,
  -- The claims that roles are made of, as they were at the sign-in. The roles follow the configuration.
  claims jsonb,
  -- The browser's own name of itself.
  browser text not null,
  created_at timestamptz not null,
  last_active_at timestamptz not null,
  expires_at timestamptz not null,
  constraint staff_sessions_token_id_check check (num_nulls(token_id, token_sha256) in (0, 2) and num_nulls(issuer, subject, name, claims) in (0, 4)),
  constraint staff_sessions_issuer_check check ((token_id is null) <> (issuer is null))
);
create index staff_sessions_expires_at on staff_sessions (expires_at);
create index staff_sessions_token on staff_sessions (token_id) where token_id is not null;

-- How the service has done, minute by minute and over all processes, for the charts of the console.
create table service_minutes (
  minute timestamptz not null,
  measure text not null,
  value double precision not null,
  primary key (minute, measure)
);

-- What support looks for: requests that were refused, and attempts to sign in (docs/operator-interface.md, Find out what happened).

create table refused_requests (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  listener text not null,
  -- Null where the request was refused before it could be read.
  method text,
  -- The address with its parameters by name, as `/payments/:payment_id`; null where no route has it.
  route text,
  status int not null,
  code text,
  details text,
  client_id text,
  contact_id text,
  -- The client_id of the application; of a request to the operator interface, the name of the token.
  application text,
  request_id text not null,
  ms double precision
);
create index refused_requests_at on refused_requests (at, id);
create index refused_requests_request on refused_requests (request_id);
create index refused_requests_client on refused_requests (client_id, at, id) where client_id is not null;
create index refused_requests_contact on refused_requests (contact_id, at, id) where contact_id is not null;

create table sign_in_attempts (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  outcome text not null,
  -- Null where no contact has the email.
  contact_id text,
  -- As it was typed, or the contact's; null where what was typed is no address. It may be a password then.
  email text,
  application text,
  address text not null,
  request_id text not null
);
create index sign_in_attempts_at on sign_in_attempts (at, id);
create index sign_in_attempts_contact on sign_in_attempts (contact_id, at, id) where contact_id is not null;
create index sign_in_attempts_email on sign_in_attempts (lower(email), at, id) where email is not null;

-- The sandbox: what integrators sent (docs/sandbox.md, Read your requests). Empty in production.

create table sandbox_requests (
  -- The order of the answers.
  id bigint generated always as identity primary key,
  client_id text not null,
  at timestamptz not null,
  method text not null,
  -- With its query.
  path text not null,
  status int not null,
  code text,
  details text,
  ms double precision not null,
  request_id text not null,
  application text not null,
  -- The first bytes, without secrets.
  request_body text,
  response_body text,
  -- Query parameters that the operation does not know.
  ignored_parameters text[] not null default '{}'
);
create index sandbox_requests_client on sandbox_requests (client_id, id);

-- Complete payments that the autopilot returns.
create index payments_steered on payments (client_id, created, id) where status = 'Payment complete' and reference like 'SIM-RETURN%';

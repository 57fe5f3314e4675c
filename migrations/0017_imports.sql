-- Imports (docs/imports.md): how far each one has got, so that one that was interrupted goes on behind its last committed line.
create table imports (
  import_id text primary key,
  kind text not null,
  -- The Idempotency-Key under which it can be sent again; null without one, and once the key stands for another import.
  idempotency_key text unique,
  state text not null check (state in ('running', 'done', 'interrupted')),
  -- Over all runs. A batch of lines and these counts are committed together.
  lines_read bigint not null,
  accepted bigint not null,
  unchanged bigint not null,
  rejected bigint not null,
  -- SHA-256 of the request's method and address, and of its lines up to the last committed one.
  sha256 bytea not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  ended_at timestamptz
) with (fillfactor = 50);
create index imports_started_at on imports (started_at, import_id);
-- Those whose process may have died.
create index imports_running on imports (import_id) where state = 'running';

-- The first refused lines of each import.
create table import_errors (
  import_id text not null references imports on delete cascade,
  line bigint not null,
  code text not null,
  details text not null,
  primary key (import_id, line)
);

-- The change feed (docs/change-feed.md): what the institution's core reads to learn what happened.
--
-- A business transaction writes its changes once, together, as the last thing that it does before it commits (src/feed/recorder.ts).
-- A change is not copied for its place in the feed: that is the place of its transaction, which the publisher numbers after the commit.

-- The newest version of each record. A record that has only been created has version 1 and no row. Raising the version locks the row
-- until the end of the transaction, so that the changes of one record follow each other.
create table change_versions (
  entity text not null,
  entity_id text not null,
  version int not null,
  primary key (entity, entity_id)
) with (fillfactor = 70);

-- Transactions that are not published yet: one row for each. The number is taken while the transaction holds its versions, so that
-- one which depends on another has the higher number; but a lower number can still be committed after a higher one.
create table changes_unpublished (
  batch bigint generated always as identity primary key,
  changes int not null,
  at timestamptz not null
) with (vacuum_truncate = off, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The changes of a transaction: one row, or one for every few hundred changes of an import. A row for each change would cost an import
-- four times as much.
create table changes (
  batch bigint not null,
  -- Where its first change stands in the transaction, from 0 on.
  place int not null,
  changes int not null,
  -- What filters look at before the body is read: the clients, those of contacts too, and the entities.
  client_ids text[] not null,
  entities text[] not null,
  -- A line for each change (src/feed/line.ts).
  body text not null,
  primary key (batch, place)
) with (
  -- The bodies of single changes stay in the row.
  toast_tuple_target = 8160);
-- Bodies of many changes: lz4 takes a tenth of the time of PostgreSQL's own compression. A server without it stores them as they are.
do $$ begin
  alter table changes alter column body set compression lz4;
exception when feature_not_supported then
  alter table changes alter column body set storage external;
end $$;

-- What the reconciliation sums up: a row for each transaction, client, currency and kind of event.
create table change_tallies (
  at timestamptz not null,
  client_id text not null,
  -- `created`, `moved:<status>` or `transaction:<kind>`.
  tally text not null,
  currency text not null,
  count int not null,
  sum numeric not null,
  id bigint generated always as identity,
  primary key (at, id)
);

-- The order of the feed: a row for each published transaction. Its changes have the positions from `position` on, without gaps.
create table change_order (
  position bigint primary key,
  batch bigint not null,
  changes int not null,
  -- When it was published. Retention goes by it.
  at timestamptz not null
);
create index change_order_at on change_order (at, position);
-- No transaction gets a second place.
create unique index change_order_batch on change_order (batch);

-- With several cells: what further cells have published lately, as `changes` has it there. Who follows the feed reads on while one of them
-- gives no answer. Empty with one cell.
create table changes_recent (
  batch bigint not null,
  place int not null,
  changes int not null,
  client_ids text[] not null,
  entities text[] not null,
  body text not null,
  -- When it was published.
  at timestamptz not null,
  primary key (batch, place)
) with (toast_tuple_target = 8160);
do $$ begin
  alter table changes_recent alter column body set compression lz4;
exception when feature_not_supported then
  alter table changes_recent alter column body set storage external;
end $$;
create index changes_recent_at on changes_recent (at);

-- Cursors carry a mark made with this key, so that one that was never handed out is recognised.
create table change_cursor_key (
  "only" boolean primary key default true check ("only"),
  key bytea not null
);
insert into change_cursor_key (key) values (sha256((gen_random_uuid()::text || gen_random_uuid()::text)::bytea));

create table change_consumers (
  name text primary key,
  -- The position of the last change that it has acknowledged.
  position bigint not null,
  acknowledged_at timestamptz not null
);

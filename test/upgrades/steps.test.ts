import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { migrate, whatIsMissing } from '../../src/database/migrate.ts';
import { stepsOf } from '../../src/database/migration-steps.ts';
import type { Migration } from '../../src/database/schema.ts';
import { createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { until } from '../world/until.ts';

/** How migrations run beside a service at work: locks, indexes that are built concurrently, columns that are filled in batches. */
const ROWS = 5_000;

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await createEmptyDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => {});
  await pool.query(`create table things (id bigint generated always as identity primary key, name text not null);
    insert into things (name) select 'thing ' || i from generate_series(1, ${ROWS}) i`);
});
after(async () => {
  await pool.end();
  await database.drop();
});

let number = 0;
function migration(sql: string): Migration {
  number += 1;
  return { number, name: `${number}_test.sql`, sql, sha256: `${number}`, oldestProgram: 1 };
}
const done: Migration[] = [];
/** Applies a further migration after those before. */
async function apply(next: Migration): Promise<void> {
  await migrate(database.url, log, { migrations: [...done, next] });
  done.push(next);
}
const scalar = async (sql: string) => Object.values((await pool.query(sql)).rows[0])[0];

test('a transaction that holds a lock: the migration gives way, nobody queues behind it for long, and it gets through', async () => {
  const holder = await pool.connect();
  await holder.query('begin; update things set name = name where id = 1');
  const migrating = apply(migration('alter table things add column size int'));
  const waits = `select count(*)::int from pg_stat_activity where application_name = 'lombard-migrate' and wait_event_type = 'Lock'
    and datname = current_database()`;
  await until(async () => (await scalar(waits)) === 1);
  // It stands in the queue now: what comes after it waits for at most its lock timeout, although the holder goes on.
  assert.equal(await scalar(`select count(*)::int from (select from things limit 1) t`), 1);
  await until(async () => (await scalar(waits)) === 0);
  await holder.query('commit');
  holder.release();
  await migrating;
  assert.equal(await scalar('select count(size)::int from things'), 0);
});

test('a column is filled in batches, while others change rows, and again from where it was interrupted', async () => {
  const sql = `-- Step: transaction
alter table things add column letters int;
-- Step: batches
update things set letters = length(name)
where id in (select id from things where letters is null order by id limit 700);
-- Step: transaction
alter table things add constraint things_letters check (letters is not null) not valid;
-- Step: transaction
alter table things validate constraint things_letters;
create table broken (id no_such_type);
`;
  const broken = migration(sql);
  const before = Number(await scalar('select max(xmin::text::bigint) from things'));
  await assert.rejects(migrate(database.url, log, { migrations: [...done, broken] }), /no_such_type/);
  assert.equal(await scalar('select count(letters)::int from things'), ROWS);
  const batches = await scalar(
    `select count(distinct xmin::text)::int from things where xmin::text::bigint > ${before}`,
  );
  assert.equal(batches, Math.ceil(ROWS / 700));
  assert.equal(await scalar('select count(*)::int from migration_steps'), 3);
  // What is done is not done again, and the file may not change under it.
  const other = { ...broken, sha256: 'other' };
  await assert.rejects(migrate(database.url, log, { migrations: [...done, other] }), /begun with different content/);
  await pool.query('create type no_such_type as enum ()');
  await apply(broken);
  assert.equal(await scalar(`select count(*)::int from migrations where number = ${broken.number}`), 1);
});

test('an index is built concurrently; one that was left invalid is built again', async () => {
  await pool.query("insert into things (name, letters) values ('thing 1', 1)");
  const index = migration('-- Step: concurrently\ncreate unique index concurrently things_name on things (name);\n');
  await assert.rejects(migrate(database.url, log, { migrations: [...done, index] }), /could not create unique index/);
  assert.equal(await scalar("select indisvalid from pg_index where indexrelid = 'things_name'::regclass"), false);
  await pool.query("delete from things where name = 'thing 1' and letters = 1");
  // Another process waits for its turn meanwhile. It holds nothing that the index would wait for.
  const waiting = migrate(database.url, log, { migrations: [...done, index] });
  await Promise.all([apply(index), waiting]);
  assert.equal(await scalar("select indisvalid from pg_index where indexrelid = 'things_name'::regclass"), true);
});

test('--print writes all of it, for psql', async () => {
  const { sql } = await whatIsMissing(database.url, {
    migrations: [
      ...done,
      migration(`alter table things add column print int;
-- Step: batches
update things set print = 1 where id in (select id from things where print is null limit 900);
-- Step: concurrently
create index concurrently things_print on things (print);`),
    ],
  });
  const [beginning, batches, index] = sql.split(/(?=do \$batches\$|create index)/);
  assert.match(beginning as string, /begin;\nalter table things add column print int;\ncommit;/);
  assert.match(index as string, /^create index concurrently things_print on things \(print\);\ninsert into migrations/);
  await pool.query('alter table things add column print int');
  await pool.query(batches as string);
  assert.equal(await scalar('select count(print)::int from things'), await scalar('select count(*)::int from things'));
});

test('a statement that fails is named, and nothing of its step stands', async () => {
  for (const [sql, statement] of [
    [
      'alter table things add column second int;\nalter table absent\n  add column second int;',
      'alter table absent add column second int',
    ],
    ['-- Step: batches\nupdate absent set second = 1', 'update absent set second = 1'],
    [
      '-- Step: concurrently\ncreate index concurrently things_absent on things (absent)',
      'create index concurrently things_absent on things (absent)',
    ],
  ] as const)
    await assert.rejects(
      migrate(database.url, log, { migrations: [...done, migration(sql)] }),
      ({ message }: Error) => {
        assert.ok(
          message.includes(statement) && message.includes('does not exist') && !message.includes('\n'),
          message,
        );
        return true;
      },
    );
  assert.equal(
    await scalar("select count(*)::int from pg_attribute where attrelid = 'things'::regclass and attname = 'second'"),
    0,
  );
});

test('a step that cannot work is refused when it is read', () => {
  for (const [sql, fault] of [
    ['-- Step: later\nselect 1', /must be transaction, concurrently, batches, not "later"/],
    ['-- Step: batches\nupdate a set b = 1; update c set d = 1;', /a step batches has one statement/],
    ['-- Step: concurrently\ncreate index things_x on things (x);', /creates an index by its name/],
    ['-- Step: concurrently\ncreate index concurrently on things (x);', /creates an index by its name/],
  ] as const)
    assert.throws(() => stepsOf({ name: '1_x.sql', sql }), fault);
});

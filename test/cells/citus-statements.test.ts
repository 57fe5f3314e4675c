import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distributed } from '../../src/database/cells/citus-statements.ts';
import { splitStatements } from '../../src/database/cells/migrations.ts';
import { stepsOf } from '../../src/database/migration-steps.ts';
import { readMigrations } from '../../src/database/schema.ts';

const PATH = '"public_cell_1", "public", pg_temp';
const words = (text: string | undefined) => text?.replace(/\s+/g, ' ').trim();

test('no statement of the migrations keeps what Citus cannot do in a distributed schema', async () => {
  const statements = (await readMigrations()).flatMap((migration) =>
    stepsOf(migration).flatMap(({ sql }) => splitStatements(sql)),
  );
  const made = statements.flatMap((statement) => distributed(statement, PATH) ?? []);
  for (const never of [
    /\breferencing (?:new|old) table\b/,
    /\bmerge into\b/,
    /\breferences clients\b/,
    /\bfrom added\b/,
    /\bfrom removed\b/,
    /^alter table \w+ alter column \w+ set storage\b/,
  ])
    assert.deepEqual(
      made.filter((statement) => never.test(statement)),
      [],
      String(never),
    );
  const triggers = made.filter((statement) => /\breturns trigger\b/.test(statement));
  assert.ok(triggers.length > 10);
  for (const statement of triggers) {
    assert.ok(statement.includes(`set search_path = ${PATH}`), statement);
    assert.doesNotMatch(statement, / offset 0\)/);
    assert.doesNotMatch(statement.replace(/^create function announce_[^$]*/, ''), /^create .*perform pg_notify/s);
  }
});

test('a trigger of a statement becomes one of each row', () => {
  const cases: [given: string, made: string | undefined][] = [
    [
      `create function counted() returns trigger language plpgsql as $$
       begin insert into deltas select a.id, 1 from added a where a.n > 0; insert into deltas select id from removed; return null; end $$`,
      `create function counted() returns trigger language plpgsql set search_path = ${PATH} as $$
       begin insert into deltas select a.id, 1 from (select new.*) a where a.n > 0; insert into deltas select id from (select old.*) removed; return null; end $$`,
    ],
    [
      `create trigger counted after update on payments
       referencing new table as added old table as removed for each statement execute function counted()`,
      'create trigger counted after update on payments for each row execute function counted()',
    ],
    [
      'create trigger announce_inserted after insert on notifications referencing new table as changed for each statement execute function f()',
      undefined,
    ],
    [
      'create table a (client_id text not null references clients, b text references c)',
      'create table a (client_id text not null, b text references c)',
    ],
  ];
  for (const [given, made] of cases) assert.equal(words(distributed(given, PATH)), words(made));
});

test('a merge becomes an insert that updates, and deletes what is nothing', () => {
  const merge = `create function f() returns int language plpgsql as $$ begin
    merge into totals as t using (select client_id, day, sum(n) as n from unnest(batch) group by 1, 2) as b
    on t.client_id = b.client_id and t.day = b.day
    when matched and t.n + b.n = 0 and t.amount + b.amount = 0 then delete
    when matched then update set n = t.n + b.n
    when not matched then insert (client_id, day, n) values (b.client_id, b.day, b.n);
    return 1; end $$`;
  assert.equal(
    words(distributed(merge, PATH)),
    words(`create function f() returns int language plpgsql as $$ begin
    insert into totals as t (client_id, day, n) select b.client_id, b.day, b.n
      from (select client_id, day, sum(n) as n from unnest(batch) group by 1, 2) as b
      on conflict (client_id, day) do update set n = t.n + excluded.n;
    delete from totals where client_id in (select client_id from unnest(batch)) and n = 0 and amount = 0;
    return 1; end $$`),
  );
});

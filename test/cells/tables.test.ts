import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { CELL_TABLES, CLIENT_TABLES, ONCE_TABLES } from '../../src/database/cells/tables.ts';
import { createDatabaseOfOneCell, type TestDatabase } from '../world/database.ts';

/** What moving a cell to another server needs of the tables (docs/decisions/0016). */
let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await createDatabaseOfOneCell();
  pool = new pg.Pool({ connectionString: database.url });
  // Dropping the database ends connections that are still closing.
  pool.on('error', () => {});
});
after(async () => {
  await pool.end();
  await database.drop();
});

/** Tables of ours; a partition stands where its table does. */
const OURS = `c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`;
const NAME = (oid: string) => `(select relname from pg_class r where r.oid = ${oid})`;

async function names(text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(text);
  return rows.map(({ name }) => name).sort();
}

test('every table stands in the cell or once', async () => {
  const tables = await names(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS}`,
  );
  assert.deepEqual([...CELL_TABLES, ...ONCE_TABLES].sort(), tables);
});

test('no statement and no migration names a schema', () => {
  const root = new URL('../../', import.meta.url);
  const files = ['src/', 'migrations/'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}${name}`),
  );
  const named = files.filter(
    (name) =>
      /\.(ts|sql)$/.test(name) &&
      // They make the schemas.
      !['src/database/cells/migrations.ts', 'src/database/cells/views.ts'].includes(name) &&
      /\bpublic\.[a-z]|\bcreate schema\b/.test(readFileSync(new URL(name, root), 'utf8')),
  );
  assert.ok(files.length > 400, `${files.length} files`);
  assert.deepEqual(named, []);
});

test('every table has a primary key', async () => {
  const without = await names(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${OURS} and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
  );
  assert.deepEqual(without, []);
});

test('every identity is a bigint', async () => {
  const narrow = await names(
    `select c.relname || '.' || a.attname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid
     where ${OURS} and not a.attisdropped and a.attidentity <> '' and a.atttypid <> 'bigint'::regtype`,
  );
  assert.deepEqual(narrow, []);
});

test('no foreign key leads into a cell, and the only ones out of it lead to the client', async () => {
  const { rows } = await pool.query<{ name: string; from: string; to: string }>(
    `select ${NAME('k.conrelid')} as "from", ${NAME('k.confrelid')} as "to", ${NAME('k.conrelid')} || '.' ||
       (select string_agg(a.attname, ',') from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any (k.conkey)) as name
     from pg_constraint k where k.contype = 'f' and k.conparentid = 0 order by name`,
  );
  const crossing = (from: ReadonlySet<string>, to: ReadonlySet<string>) =>
    rows.filter((key) => from.has(key.from) && to.has(key.to));
  assert.deepEqual(crossing(ONCE_TABLES, CELL_TABLES), []);
  const leaving = crossing(CELL_TABLES, ONCE_TABLES);
  assert.deepEqual([...CLIENT_TABLES].sort(), [...new Set(leaving.map(({ from }) => from))].sort());
  assert.deepEqual(
    leaving.filter(({ name, to }) => to !== 'clients' || !name.endsWith('.client_id')),
    [],
  );
});

test('a row that is removed from a cell is looked for by an index in each table that refers to it', async () => {
  const without = await names(
    `select ${NAME('k.conrelid')} || ': ' || pg_get_constraintdef(k.oid) as name from pg_constraint k
     join pg_class t on t.oid = k.confrelid join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
     where ${OURS} and k.contype = 'f' and k.conparentid = 0 and t.relname = any ('{${[...CELL_TABLES].join(',')}}')
       and not exists (select from pg_index i where i.indrelid = k.conrelid and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)`,
  );
  assert.deepEqual(without, []);
});

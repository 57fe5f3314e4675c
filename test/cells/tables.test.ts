import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import {
  CELL_TABLES,
  DELTA_TABLES,
  HISTORY_TABLES,
  MOVED_TABLES,
  ONCE_TABLES,
} from '../../src/database/cells/tables.ts';
import { KIND_NAMES, KINDS, type Kind, REMOVED_KINDS, TOLD_KINDS, tablesOf } from '../../src/database/kinds.ts';
import { PLACES } from '../../src/erasure/copies.ts';
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

test('every table stands in the cell or once, and belongs to one kind of record or to none', async () => {
  const tables = await names(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS}`,
  );
  assert.deepEqual([...CELL_TABLES, ...ONCE_TABLES].sort(), tables);
  for (const list of [KIND_NAMES.flatMap(tablesOf), MOVED_TABLES]) assert.deepEqual([...new Set(list)], list);
});

test('the kinds of records say of their columns and sequences what the database has', async () => {
  const said = KIND_NAMES.flatMap((kind) => {
    const { table, id, type = 'text', claims = [], prefix } = KINDS[kind];
    return [
      `${table}.${id} ${type}`,
      ...claims.filter((column) => column !== id).map((column) => `${table}.${column} uuid`),
      ...(prefix ? [`${kind}_numbers`] : []),
    ];
  });
  const stored = await names(
    `select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, null) as name from pg_class c
     join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid where ${OURS}
     union all select sequencename from pg_sequences`,
  );
  assert.deepEqual(
    said.filter((name) => !stored.includes(name)),
    [],
  );
  const claimed = KIND_NAMES.flatMap((kind) => KINDS[kind].claims ?? []);
  assert.deepEqual(claimed.sort(), await names('select unnest(enum_range(null::claimed_field))::text as name'));
});

/** @param list with spaces between them */
function split(list: string): string[] {
  return list.split(' ');
}

/** The foreign keys between tables. */
async function keys(): Promise<{ from: string; to: string }[]> {
  const { rows } = await pool.query<{ from: string; to: string }>(
    `select distinct ${NAME('k.conrelid')} as "from", ${NAME('k.confrelid')} as "to" from pg_constraint k
     where k.contype = 'f' and k.conparentid = 0 and k.conrelid <> k.confrelid`,
  );
  return rows;
}

test('what moves with a client comes after what it refers to', async () => {
  const moved = (await keys()).filter(({ from, to }) => MOVED_TABLES.includes(from) && MOVED_TABLES.includes(to));
  assert.ok(moved.length > 10, `${moved.length} keys`);
  assert.deepEqual(
    moved.filter(({ from, to }) => MOVED_TABLES.indexOf(from) < MOVED_TABLES.indexOf(to)),
    [],
  );
});

test('a reset removes what refers to a record before the record, and payments before their accounts', async () => {
  assert.deepEqual(REMOVED_KINDS.toSorted(), TOLD_KINDS.toSorted());
  const kinds = new Map(KIND_NAMES.flatMap((kind) => tablesOf(kind).map((table) => [table, kind])));
  const between = (await keys()).map(({ from, to }) => [kinds.get(from), kinds.get(to)] as [Kind, Kind]);
  for (const order of [REMOVED_KINDS, TOLD_KINDS]) {
    const ordered = between.filter((key) => key.every((kind) => order.includes(kind)));
    assert.ok(ordered.length > 4, `${ordered.length} keys`);
    assert.deepEqual(
      ordered.filter(([from, to]) => order.indexOf(from) > order.indexOf(to)),
      [],
    );
  }
  const [payments, ...accounts] = ['payments', 'currency_accounts', 'accounts'].map((table) =>
    REMOVED_KINDS.flatMap(tablesOf).indexOf(table),
  );
  assert.ok(accounts.every((place) => (payments ?? Number.NaN) < place));
});

test('of every table that names a client it is known what a move, a reset and an erasure do', async () => {
  const tables = await names(
    `select distinct c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid where ${OURS} and a.attname in ('client_id', 'subscription_id') and not a.attisdropped`,
  );
  const others = (known: readonly string[]) => tables.filter((table) => !known.includes(table));
  const once = split(
    'account_details application_trusted_clients applications audit_links claims client_pricing clients contact_clients webhook_watches',
  );
  // They exist once, or stay where they were written.
  assert.deepEqual(
    others([...MOVED_TABLES, ...DELTA_TABLES, ...HISTORY_TABLES]),
    [...once, 'audit_chain', 'mails', 'refused_requests'].sort(),
  );
  const totals = tables.filter((table) => /_(totals|deltas)$/.test(table));
  const notifications = split('attempts notifications webhook_events webhook_outbox webhook_queue');
  // Of these the domains take care: totals follow payments, notifications are removed in an order of their own. The rest stays.
  assert.deepEqual(
    others(REMOVED_KINDS.flatMap(tablesOf)),
    [
      ...['audit', 'audit_chain', 'change_tallies', 'mails', 'refused_requests', 'sandbox_requests'],
      ...[...once, ...totals, ...notifications, ...tablesOf('subscription'), 'approver_refreshes', 'onboarding_events'],
    ].sort(),
  );
  // These have statements of their own in src/erasure, or name contacts by their identifiers at most.
  assert.deepEqual(
    others(PLACES.map(({ table }) => table)),
    [
      ...['audit', 'audit_chain', 'payments', 'statement_requests', ...notifications],
      ...['approver_refreshes', 'onboarding_events', 'change_tallies', ...once, ...totals, ...tablesOf('subscription')],
      ...split(
        'payment_approvers payment_decisions payment_notices step_up_challenges step_up_payments statement_sections',
      ),
      'statement_files',
      ...split('accounts currency_accounts holds transactions trades trade_beneficiaries quotes multipayments'),
      ...split('beneficiaries beneficiary_changes mass_beneficiaries mass_beneficiary_errors mass_beneficiary_rows'),
      ...split('mass_payments mass_payment_rows payment_initiations'),
    ].sort(),
  );
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
  assert.ok(leaving.length > 10, `${leaving.length} keys`);
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

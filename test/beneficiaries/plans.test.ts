import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { searchBeneficiaries } from '../../src/beneficiaries/client-search.ts';
import { judgePayees } from '../../src/beneficiaries/judgement.ts';
import { connectTo, isOnWorkers, ON_WORKERS } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What reads beneficiaries walks an index, however many of the client were deleted. */

const DELETED = 20_000;
const ACTIVE = 2_000;

let service: TestService;
let db: pg.Client;
let clientId: string;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  ({ clientId } = await createWorld(service, 'Plans'));
  db = await connectTo(service, clientId);
  await db.query(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, name_key, account_number, bank_identifier, iban, paid_account,
       currency, active, authorised, blocked, completed, verified, created_at)
     select 'B' || i, $1, 'Name ' || i, 'name ' || i, i::text, (i % 900)::text, 'IBAN' || i, i::text, 'EUR', i > $2, true, i % 5000 = 0,
       true, true, now() from generate_series(1, $3::int) i`,
    [clientId, DELETED, DELETED + ACTIVE],
  );
  await db.query('vacuum (analyze) beneficiaries');
});
after(async () => {
  await db.end();
  await service.stop();
});

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
}

/** The indexes that statements read beneficiaries by, and how many rows they read. */
async function readBy(statements: { text: string; values: unknown[] }[]): Promise<{ indexes: string[]; read: number }> {
  const nodes: Node[] = [];
  const collect = (node: Node) => {
    if (node['Relation Name'] === 'beneficiaries') nodes.push(node);
    node.Plans?.forEach(collect);
  };
  // As connections that answer requests have it: the plan knows no values.
  await db.query('set plan_cache_mode = force_generic_plan');
  for (const { text, values } of statements) {
    await db.query(`prepare reading as ${text}`);
    const { rows } = await db.query(
      `explain (analyze, format json) execute reading (${values.map(literal).join(', ')})`,
    );
    collect(rows[0]['QUERY PLAN'][0].Plan);
    await db.query('deallocate reading');
  }
  const rowsOf = (node: Node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
  return {
    indexes: [...new Set(nodes.map((node) => node['Index Name'] ?? node['Node Type']))].sort(),
    read: nodes.reduce((sum, node) => sum + rowsOf(node) * (node['Actual Loops'] ?? 1), 0),
  };
}

/** A value of a statement, null or a list of some included, as SQL. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return db.escapeLiteral(String(value));
  const elements = value.map((element) => (element === null ? 'null' : JSON.stringify(String(element))));
  return db.escapeLiteral(`{${elements.join(',')}}`);
}

/** The statements that some work sends. */
async function statementsOf(work: (tx: never) => Promise<unknown>): Promise<{ text: string; values: unknown[] }[]> {
  const sent: { text: string; values: unknown[] }[] = [];
  const note = (first: string | pg.QueryConfig, values: unknown[] = []) => {
    const { text, values: own } = typeof first === 'string' ? { text: first, values } : first;
    sent.push({ text, values: own ?? [] });
    return db.query(text, own ?? []);
  };
  await work({ query: note, later: () => {} } as never);
  return sent;
}

test('the list and each of its filters', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const search = (filters: object, page = 1) =>
    statementsOf((tx) => searchBeneficiaries(tx, filters, { clientId, page, pageSize: 50 }));
  const cases: [object, string, number][] = [
    [{}, 'beneficiaries_active', ACTIVE + 51],
    [{ name: 'NAME 21000' }, 'beneficiaries_name', 2],
    [{ account_number: '21000' }, 'beneficiaries_account_number', 2],
    [{ iban: 'IBAN21000' }, 'beneficiaries_iban', 2],
    [{ bank_identifier: '300' }, 'beneficiaries_bank', 10],
  ];
  for (const [filters, index, most] of cases) {
    const { indexes, read } = await readBy(await search(filters));
    assert.ok(
      indexes.every((name) => [index, 'beneficiaries_active'].includes(name)),
      `${JSON.stringify(filters)}: ${indexes}`,
    );
    assert.ok(read <= most, `${JSON.stringify(filters)}: ${read} rows`);
  }
});

test('whether a beneficiary is there already, and whether its account is blocked', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const payee = { name_key: 'name 21000', paid_account: '21000', paid_bank: null, paid_bic: null, paid_country: null };
  const { indexes, read } = await readBy(
    await statementsOf((tx) => judgePayees(tx, clientId, [{ ...payee, currency: 'EUR', self: null }])),
  );
  assert.deepEqual(indexes, ['beneficiaries_blocked', 'beneficiaries_name']);
  assert.ok(read <= 2, `${read} rows`);
});

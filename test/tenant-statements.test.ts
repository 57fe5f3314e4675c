import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { searchStatement } from '../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../src/payments/search/search-parameters.ts';
import { ensureDemonstration } from '../src/sandbox/demonstration/demonstration.ts';
import { textArray } from '../src/values/text-array.ts';
import { accessToken } from './world/access-token.ts';
import { configuration } from './world/approvals.ts';
import { isOnWorkers } from './world/cells.ts';
import { onServer } from './world/cluster.ts';
import { NO_CLUSTER } from './world/database.ts';
import { pageSession } from './world/page-session.ts';
import { startTestService, type TestService } from './world/service.ts';
import { withoutTenant } from './world/tenant-conditions.ts';

/**
 * Every relation of every statement that a client's call runs says `client_id = $n` itself. A join over another relation's client_id keeps
 * tenants apart too, but a mistake in one line of it would not be seen, and PostgreSQL plans it worse.
 */
const CLIENT = 'CLI000001';
const CONTACT = 'CON000001';
/** The end of a statement that a failure shows. */
const LEGIBLE = 400;
const FILTERS: SearchQuery[] = [
  {},
  { status: 'pending' },
  { status: 'pending_your_approval' },
  { status: 'pending_others_approval' },
  { payment_currency: 'EUR,USD' },
  { status: 'complete', payment_currency: 'EUR' },
  { beneficiary_id: 'B' },
  { trade_id: 'T' },
  { reference: 'R' },
  { payment_ids: 'A,B' },
  { mass_payment_id: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11' },
  { amount: 5, amount_range: 'over' },
  { amount: 5, amount_range: 'equal' },
  { from_created_date: '2025-01-20', to_created_date: '2025-04-20' },
  { from_payment_date: '2025-01-20', to_payment_date: '2025-04-20' },
  { from_payment_date: '2025-01-20', payment_currency: 'EUR' },
];
const ORDERS: SearchQuery[] = [{}, { order_by: 'value_date', order: 'desc' }, { page: 3 }, { page: 700 }];

let service: TestService;
let token: string;
let tenant: Set<string>;
/** By their texts: the values that they ran with. */
const statements = new Map<string, unknown[]>();
let recording = false;

interface Recorded {
  text?: string;
  values?: unknown[];
}
const query = pg.Client.prototype.query;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
  await ensureDemonstration(service.service.context);
  token = await accessToken(service, CONTACT);
  const { rows } = await service.query(
    `select table_name as name from information_schema.columns
     where column_name = 'client_id' and table_name not in ('applications', 'audit', 'audit_chain') and table_schema = current_schema()`,
  );
  tenant = new Set(rows.map(({ name }) => name));
  pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const given = args[0] as string | Recorded;
    const text = typeof given === 'string' ? given : given?.text;
    const values = typeof given === 'string' ? (args[1] as unknown[] | undefined) : given?.values;
    if (recording && text) statements.set(text, values ?? []);
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as never;
});
after(async () => {
  pg.Client.prototype.query = query;
  await service.stop();
});

/** A call of the client; its answer's body. */
async function ask(method: string, path: string, body?: unknown, outcome: 'good' | 'any' = 'good') {
  const glue = path.includes('?') ? '&' : '?';
  recording = true;
  const answer = await service.client(
    token,
    method,
    `${path}${glue}client_id=${CLIENT}`,
    body === undefined ? {} : { body },
  );
  recording = false;
  assert.ok(
    outcome === 'any' || (answer.status < 300 && !answer.body?.errors),
    `${method} ${path}: ${answer.status} ${answer.text}`,
  );
  return answer.body;
}

function assertTenants(texts: Iterable<string>): void {
  const faults = new Set<string>();
  for (const text of texts) {
    // PostGraphile writes its own statements, and row level security adds the tenant. A token is read before its client is known.
    if (text.includes('__') || text.includes('t.token_sha256 = $1')) continue;
    const missing = withoutTenant(text, tenant);
    if (missing.length > 0) faults.add(`${missing.join(', ')} in: ${text.replaceAll(/\s+/g, ' ').slice(-LEGIBLE)}`);
  }
  assert.deepEqual([...faults], []);
}

test('the reader of statements finds what does not name its tenant', () => {
  const tables = new Set(['payments', 'beneficiaries']);
  for (const [sql, missing] of [
    ['select from payments where client_id = $1', []],
    ['select from payments p where p.client_id = any ($1)', []],
    ['select from payments', ['payments']],
    [
      'select from payments p join beneficiaries b on b.client_id = p.client_id where p.client_id = $1',
      ['beneficiaries b'],
    ],
    ['select from payments p join beneficiaries b on b.client_id = $1 where p.client_id = $1', []],
    ['with k as (select from payments) select from k, beneficiaries b where b.client_id = $1', ['payments']],
    ['select (select n from payments where client_id = $1) from beneficiaries b', ['beneficiaries b']],
    ['update payments a set x = 1 from unnest($2) u where a.id = u.id', ['payments a']],
    ['select from payments where client_id = $1 union all select from payments', ['payments']],
    ['insert into links (id, payments) select id, beneficiaries from kept', []],
    ['insert into links (id, payments) select id, 1 from kept, payments', ['payments']],
  ] as const) {
    assert.deepEqual(withoutTenant(sql, tables), missing, sql);
  }
});

test('each shape of the search', () => {
  const view = {
    clientId: CLIENT,
    viewer: CONTACT,
    now: new Date(),
    apiUrl: 'http://api',
    trackingCutoff: '2020-01-01',
  };
  const texts = FILTERS.flatMap((filter) =>
    ORDERS.map((order) => searchStatement(view, readSearch({ ...filter, ...order })).text),
  );
  assertTenants(texts);
});

test('each operation of the client API', async () => {
  const [waiting] = (await ask('GET', '/payments?status=pending_your_approval')) as { payment_id: string }[];
  await ask('GET', `/payments/${waiting?.payment_id}`);
  await ask('GET', `/payments/${waiting?.payment_id}/approvals`);
  await ask('PATCH', `/payments/${waiting?.payment_id}?action=authorise`);
  const [rejectable, cancellable] = (await ask('GET', '/payments?status=pending')) as { payment_id: string }[];
  await ask('PATCH', `/payments/${rejectable?.payment_id}?action=reject&reason=no`, undefined, 'any');
  await ask('DELETE', `/payments/${cancellable?.payment_id}`, undefined, 'any');
  const [sent] = (await ask('GET', '/payments?status=complete')) as { payment_id: string; trade_id: string }[];
  await ask('GET', `/documents?type=pr&id=${sent?.payment_id}`);
  await ask('GET', `/documents?type=tr&id=${sent?.trade_id}`);
  await ask('GET', '/approvals-workflow/settings');
  await ask('GET', '/approvals-workflow/config');
  await ask('POST', '/approvals-workflow/config', configuration({ all: [CONTACT] }, [[0, [['all']]]], 'EUR', String));
  await ask('GET', '/approvals-workflow/config/versions');
  await ask('DELETE', '/multipayments/MP000001', undefined, 'any');
  await ask('POST', '/statements/accounts', { date_from: '2026-07-01', date_to: '2026-07-31' });
  const subscription = '{ subscription: { url: "http://127.0.0.1:9/", types: [TRADE_STATUS_CHANGE] } }';
  const graphql = (query: string) => ask('POST', '/webhooks/graphql', { query });
  const made = await graphql(`mutation { createSubscription(input: ${subscription}) { subscription { id secret } } }`);
  const { id } = made.data.createSubscription.subscription;
  await graphql(
    `mutation { updateSubscription(input: { id: "${id}", patch: { active: true } }) { subscription { id } } }`,
  );
  await ask('POST', `/webhooks/ping/${id}`);
  await graphql('{ subscriptions { nodes { id secret notifications { nodes { id status } } } } }');
  // One that no worker looks at meanwhile.
  const file = '3f1b8a52-6c0d-4f5e-9b1e-2f6a7c8d9e02';
  await service.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, reason, created_by, created_at, received)
     values ($1, $2, 'F-1', 'Cancelled', false, 'other', $3, now(), 0)`,
    [file, CLIENT, CONTACT],
  );
  const pages = await pageSession(service, CONTACT);
  for (const data of [
    'accounts',
    'approval-scene',
    'balance-lines',
    'balances?currency=EUR',
    'files',
    'markets',
    'outlook',
    `files/${file}`,
    `files/${file}/errors.csv`,
    'payments-template.csv?payees=true',
    `payment-days?beneficiary_id=BEN000001&currency=EUR&amount=1`,
    'payment-sources',
    `payments/${sent?.payment_id}/again`,
    `receiver-health?subscription_id=${id}`,
    'statements',
    'trades',
    'transactions?currency_account_id=1',
  ]) {
    recording = true;
    const answer = await pages.call('GET', `/app/data/${data}${data.includes('?') ? '&' : '?'}client_id=${CLIENT}`);
    recording = false;
    assert.equal(answer.status, 200, `${data}: ${answer.text}`);
  }
  await graphql(`mutation { deleteSubscription(input: { id: "${id}" }) { subscription { id } } }`);
  await ask('GET', '/accounts/currency-accounts');
  await ask('GET', '/quotes/fx-availability');
  for (const path of ['', '/errors', '/beneficiaries'])
    await ask('GET', `/mass-beneficiaries/3f1b8a52-6c0d-4f5e-9b1e-2f6a7c8d9e01${path}`);
  const { rows } = await service.query('select account_id from accounts where client_id = $1', [CLIENT]);
  await ask('GET', `/accounts/${rows[0].account_id}`);
  recording = true;
  await service.operator('GET', `/notifications?client_id=${CLIENT}`);
  recording = false;
  assert.ok(statements.size > 30, `${statements.size} statements`);
  assertTenants(statements.keys());
});

test('the data of the pages', async () => {
  const before = new Map(statements);
  statements.clear();
  const { call } = await pageSession(service, CONTACT);
  const { rows } = await service.query(
    `select payment_id from payments where client_id = $1 and status = 'Payment pending of authorization' limit 2`,
    [CLIENT],
  );
  const ids = rows.map(({ payment_id: id }) => id);
  recording = true;
  const answers = [
    await call('GET', `/app/data/home?client_id=${CLIENT}`),
    await call('POST', `/app/data/find?client_id=${CLIENT}`, { q: '12' }),
    await call('POST', `/app/data/payees?client_id=${CLIENT}`, { q: 'a' }),
    await call('POST', `/app/data/payees/search?client_id=${CLIENT}`, { q: 'a' }),
    await call('POST', `/app/data/marks?client_id=${CLIENT}`, { payment_ids: ids }),
    await call('POST', `/app/data/approvals?client_id=${CLIENT}`, { payment_ids: [...ids, 'PAY-NONE'] }),
    await call('GET', `/app/data/decisions?client_id=${CLIENT}`),
    await call('GET', `/app/data/payments/${ids[0]}?client_id=${CLIENT}`),
    await call(
      'GET',
      `/app/data/payments.csv?client_id=${CLIENT}&status=pending_others_approval&beneficiary_id=BEN000001`,
    ),
  ];
  recording = false;
  for (const { status, text } of answers) assert.equal(status, 200, text);
  assert.ok(
    [...statements.keys()].some((text) => text.startsWith('declare exported')),
    `${statements.size} statements`,
  );
  // A session is found by its cookie.
  assertTenants([...statements.keys()].filter((text) => !text.includes('page_sessions')));
  for (const [text, values] of before) statements.set(text, values);
});

test('a worker of Citus runs each of them as one task', async (t) => {
  if (!(await isOnWorkers(service))) return t.skip(`${NO_CLUSTER}, or LOMBARD_TEST_CELLS is not set`);
  const { rows } = await service.query('select cell from clients where client_id = $1', [CLIENT]);
  for (const filter of FILTERS)
    for (const order of ORDERS)
      await ask(
        'GET',
        `/payments?${new URLSearchParams(Object.entries({ ...filter, ...order }).map(([k, v]) => [k, String(v)]))}`,
      );
  const [paid] = await ask('GET', '/payments?status=complete');
  recording = true;
  const made = await service.operator('POST', '/payments', {
    client_id: CLIENT,
    ...{ contact_id: paid.contact_id, trade_id: paid.trade_id, beneficiary_id: paid.beneficiary_id },
    ...{ amount: 5, payment_currency: paid.payment_currency, payment_date: paid.payment_date },
  });
  recording = false;
  assert.equal(made.status, 201, made.text);
  const explained = await onServer(service.databaseUrl, async (client) => {
    await client.query(`set search_path = public_cell_${rows[0].cell}, public`);
    const plans = new Map<string, string>();
    for (const [text, values] of statements) {
      // The history of a record is read in all cells, which its statement names: its client may have moved.
      if (!/^\s*(with|select|insert|update|delete)\b/i.test(text) || text.includes('public_cell_')) continue;
      plans.set(text, await planOf(client, text, values));
    }
    return plans;
  });
  const distributed = [...explained].filter(([, plan]) => plan.includes('Citus'));
  assert.ok(distributed.length > 60, `${distributed.length} of ${explained.size} statements are on a worker`);
  const faults = distributed
    .filter(([, plan]) => !isOneTask(plan))
    .map(([text, plan]) => `${text.replaceAll(/\s+/g, ' ').slice(0, LEGIBLE)}\n${plan}`);
  assert.deepEqual(faults, []);
  t.diagnostic(`${distributed.length} of ${explained.size} statements are on a worker`);
});

/** The plan of a statement, made as for a prepared one: Citus does not explain all statements that have parameters. */
async function planOf(client: pg.Client, text: string, values: unknown[]): Promise<string> {
  const given = values.map((value) => literal(client, value)).join(', ');
  try {
    await client.query(`prepare explained as ${text}`);
    const { rows } = await client.query(`explain (costs off) execute explained ${given && `(${given})`}`);
    await client.query('deallocate explained');
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } catch (error) {
    await client.query('deallocate all');
    return `Citus: ${(error as Error).message}`;
  }
}

function literal(client: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (Array.isArray(value)) return client.escapeLiteral(textArray(value.map(plain)));
  return client.escapeLiteral(plain(value));
}

function plain(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** One statement on one worker, all of whose tables are there. */
function isOneTask(plan: string): boolean {
  if (/Subplan|Citus:/.test(plan)) return false;
  const tasks = [...plan.matchAll(/Task Count: (\d+)/g)].map(([, count]) => count);
  // What has no table, or comes from one task, is copied to the one table that takes it.
  if (plan.includes('INSERT/SELECT method: pull to coordinator')) return tasks.length === 0 || tasks.join() === '1';
  return tasks.join() === '1' && plan.startsWith('Custom Scan (Citus');
}

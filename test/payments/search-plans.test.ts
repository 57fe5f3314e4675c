import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { readPaths } from '../../src/database/cells/cell.ts';
import { inCell } from '../../src/database/cells/scope.ts';
import { createPool } from '../../src/database/pools.ts';
import { findNamed } from '../../src/http/console/search.ts';
import { searchPayments, searchStatement } from '../../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../../src/payments/search/search-parameters.ts';
import { figuresStatement } from '../../src/payments/views/figures.ts';
import { marksStatement } from '../../src/payments/views/marks.ts';
import { readOutlook } from '../../src/payments/views/outlook.ts';
import { isOnWorkers, ON_WORKERS } from '../world/cells.ts';
import { client } from '../world/payments.ts';
import { nodesOf, type PlanNode, rowsRead } from '../world/plans.ts';
import { startTestService, type TestService } from '../world/service.ts';

/**
 * Which index each shape of the search uses, and that what is walked is neither sorted nor read whole: the plan that a prepared
 * statement ends with (generic), on a table with statistics. A shape's time is in docs/performance.md.
 */

const view = {
  clientId: 'CLI-LARGE',
  viewer: 'CON-LARGE',
  now: new Date(),
  apiUrl: 'http://api',
  trackingCutoff: '2020-01-01',
};

let service: TestService;
let db: pg.Client;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  db = new pg.Client({ connectionString: service.databaseUrl });
  await db.connect();
  // Citus plans each call. Its first cell is on the coordinator, with the plans that a database with one cell has.
  if (await isOnWorkers(service)) await db.query('set plan_cache_mode = force_generic_plan');
  for (const word of ['LARGE', 'P1', 'P2', 'P3']) {
    await client(service, word);
    const { length } = { length: word === 'LARGE' ? 40_000 : 500 };
    await db.query(
      `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, reference,
         status, invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow, mass_payment_id,
         mass_payment_external_reference_id)
       select 'CLI-' || $1, $1 || i, 'CON-' || $1, 'TRD-' || $1 || '-' || 1 + i % 3, 'BEN-' || $1 || '-' || 1 + i % 3, gen_random_uuid(), 'SWIFT',
         i % 20000, (array['EUR','USD','GBP','SEK'])[1 + i % 4], 'R' || i, (enum_range(null::payment_status))[1 + i / 7 % 8], false, 'x', 'y',
         timestamptz '2024-01-01Z' + i * interval '20 minutes', date '2024-01-03' + i / 72, 'simple', gen_random_uuid(), 'M' || i
       from generate_series(1, $2::int) i`,
      [word, length],
    );
    await db.query(
      `insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
       select client_id, contact_id, id, created, payment_date, id % 2 = 0, true from payments
       where client_id = 'CLI-' || $1::text and phase = 1`,
      [word],
    );
  }
  await db.query('select roll_up_payment_totals(1000000), roll_up_payment_approver_totals(1000000)');
  await db.query('vacuum (analyze)');
});
after(async () => {
  await db.end();
  await service.stop();
});

const planOf = (query: SearchQuery) => planOfStatement(searchStatement(view, readSearch(query)));

/** Runs the statement's generic plan; the nodes that read payments (rows by id left out), and how many rows they read. */
async function planOfStatement({
  text,
  values,
}: {
  text: string;
  values: unknown[];
}): Promise<{ indexes: string[]; read: number; nodes: PlanNode[] }> {
  await db.query('deallocate all');
  await db.query(`prepare shape as ${text}`);
  const literals = values.map((value) =>
    Array.isArray(value) ? `'{${value.join(',')}}'` : db.escapeLiteral(String(value)),
  );
  const { rows } = await db.query(
    `explain (analyze, costs off, timing off, format json) execute shape (${literals.join(', ')})`,
  );
  const nodes = nodesOf(rows);
  const reading = nodes.filter(
    (node) =>
      /^(payments|payment_approvers)$/.test(node['Relation Name'] ?? '') &&
      !/^payments_pkey|payment_approvers_pkey$/.test(node['Index Name'] ?? ''),
  );
  return {
    indexes: [...new Set(reading.map((node) => node['Index Name'] ?? node['Node Type']))].sort(),
    read: rowsRead(reading),
    nodes,
  };
}

/** Rows that a page of 50 may read beside its own: a day's (72) before a sought page, a branch's first rows. */
const FEW = 200;

const DEEP = { page: 700 };
const WALKED: [SearchQuery, string][] = [
  [{}, 'payments_created'],
  [{ order: 'desc' }, 'payments_created'],
  [{ order_by: 'value_date' }, 'payments_payment_date'],
  [{ order_by: 'value_date', order: 'desc' }, 'payments_payment_date'],
  [DEEP, 'payments_created'],
  [{ ...DEEP, order: 'desc' }, 'payments_created'],
  [{ ...DEEP, order_by: 'value_date' }, 'payments_payment_date'],
  [{ ...DEEP, order_by: 'value_date', order: 'desc' }, 'payments_payment_date'],
  [{ page: 100_000 }, 'payments_created'],
  ...(['pending', 'pending_to_authorise', 'authorised', 'cancelled', 'rejected', 'complete'] as const).flatMap(
    (status): [SearchQuery, string][] => [
      [{ status }, 'payments_phase_created'],
      [{ status, order: 'desc' }, 'payments_phase_created'],
      [{ status, order_by: 'value_date' }, 'payments_phase_payment_date'],
      [{ status, payment_currency: 'EUR' }, 'payments_currency_phase_created'],
      [{ status, payment_currency: 'EUR,USD,GBP' }, 'payments_currency_phase_created'],
    ],
  ),
  [{ payment_currency: 'EUR' }, 'payments_currency_phase_created'],
  [{ payment_currency: 'EUR,SEK', order: 'desc' }, 'payments_currency_phase_created'],
  [{ from_created_date: '2025-01-20', to_created_date: '2025-02-20' }, 'payments_created'],
  [{ from_payment_date: '2025-01-20', to_payment_date: '2025-02-20', order_by: 'value_date' }, 'payments_payment_date'],
  [{ beneficiary_id: 'BEN-LARGE-2' }, 'payments_beneficiary'],
  [{ beneficiary_id: 'BEN-LARGE-2', order: 'desc' }, 'payments_beneficiary'],
  [{ status: 'complete', from_created_date: '2025-01-01', to_created_date: '2025-02-28' }, 'payments_phase_created'],
];
for (const [query, index] of WALKED) {
  test(`walks ${index} for ${JSON.stringify(query)}`, async () => {
    const plan = await planOf(query);
    assert.deepEqual(plan.indexes, [index]);
    assert.ok(plan.read <= FEW, `${plan.read} rows were read`);
  });
}

test('what waits for the viewer is read from indexes of its own, as far as the page needs', async () => {
  for (const [query, index] of [
    [{}, 'payment_approvers_created'],
    [{ order_by: 'value_date', order: 'desc' }, 'payment_approvers_payment_date'],
  ] as const) {
    const plan = await planOf({ status: 'pending_your_approval', ...query });
    // Above the scan stands the look at the permission, which is taken once.
    const scan = plan.nodes.find((node) => node['Index Name'] === index);
    assert.equal(scan?.['Actual Rows'], 50);
    assert.ok(
      plan.indexes.every((name) => name.startsWith('payment_approvers')),
      plan.indexes.join(),
    );
  }
});

test('what waits for others is the merge of two indexes, as far as the page needs', async () => {
  for (const [query, index] of [
    [{}, 'created'],
    [{ order: 'desc' }, 'created'],
    [{ order_by: 'value_date' }, 'payment_date'],
    [{ order_by: 'value_date', order: 'desc' }, 'payment_date'],
    [{ page: 3 }, 'created'],
  ] as [SearchQuery, string][]) {
    const read = await readByFunctions({ status: 'pending_others_approval', ...query });
    assert.deepEqual(Object.keys(read).sort(), [`payment_approvers_${index}`, `payments_phase_${index}`]);
    for (const rows of Object.values(read)) assert.ok(rows > 0 && rows <= (query.page ?? 1) * 2 * FEW, String(rows));
  }
});

/** The entries of each index that a search reads, rows by id left out: a function's plan is not in the statement's. */
async function readByFunctions(query: SearchQuery): Promise<Record<string, number>> {
  const { text, values } = searchStatement(view, readSearch(query));
  await db.query('begin');
  const before = await entriesRead();
  await db.query(text, values);
  const after = await entriesRead();
  await db.query('commit');
  const read = [...after].map(([index, entries]) => [index, entries - (before.get(index) ?? 0)] as const);
  return Object.fromEntries(read.filter(([, entries]) => entries > 0));
}

async function entriesRead(): Promise<Map<string, number>> {
  const { rows } = await db.query<{ index: string; entries: number }>(
    `select indexrelname as index, pg_stat_get_xact_tuples_returned(indexrelid)::int as entries from pg_stat_user_indexes
     where relname in ('payments', 'payment_approvers') and indexrelname !~ 'pkey$' and schemaname = current_schema()`,
  );
  return new Map(rows.map(({ index, entries }) => [index, entries]));
}

const COLLECTED: [SearchQuery, string, number][] = [
  [{ payment_ids: 'LARGE7,LARGE8' }, 'payments_payment_id_key', 2],
  // Counted, and read once more for the page.
  [{ reference: 'R77' }, 'payments_reference', 2],
  [{ reference: 'R77', status: 'complete' }, 'payments_reference', 1],
  [{ mass_payment_external_reference_id: 'M5' }, 'payments_mass_payment_reference', 1],
  [{ mass_payment_id: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11' }, 'payments_mass_payment', 0],
  [{ amount: 77, amount_range: 'equal' }, 'payments_amount', 2],
];
for (const [query, index, read] of COLLECTED) {
  test(`collects through ${index} for ${JSON.stringify(query)}`, async () => {
    const plan = await planOf(query);
    assert.deepEqual(plan.indexes, [index]);
    assert.equal(plan.read, read);
  });
}

/** A range of one date in the order of the other, of more payments than are collected: read from the day where it can begin. */
const CROSSED: [SearchQuery, string][] = [
  [{ from_payment_date: '2025-01-20', to_payment_date: '2025-02-20' }, 'payments_created'],
  [{ from_payment_date: '2024-06-01', to_payment_date: '2025-06-01', order: 'desc' }, 'payments_created'],
  [{ from_payment_date: '2025-01-20' }, 'payments_created'],
  [{ from_created_date: '2025-01-20', to_created_date: '2025-02-20', order_by: 'value_date' }, 'payments_payment_date'],
  [{ to_created_date: '2025-02-20', order_by: 'value_date', order: 'desc' }, 'payments_payment_date'],
];
for (const [query, index] of CROSSED) {
  test(`walks ${index}, not from the beginning, for ${JSON.stringify(query)}`, async () => {
    const plan = await planOf(query);
    assert.ok(plan.indexes.includes(index), plan.indexes.join());
    // The first days where a payment of the range can be, and no more.
    assert.ok(plan.read <= 2 * FEW, `${plan.read} rows were read`);
  });
}

test('a currency by payment date walks where much matches, and collects where little does', async () => {
  // The days before the first whole month are counted: 12 of 72 payments each.
  for (const [query, counted] of [
    [{}, 0],
    [{ from_payment_date: '2025-01-20' }, 12 * 72],
  ] as const) {
    const much = await planOf({ ...query, payment_currency: 'EUR', order_by: 'value_date' });
    assert.ok(much.indexes.includes('payments_phase_payment_date'), much.indexes.join());
    assert.ok(much.read <= counted + 2 * FEW, `${much.read} rows were read`);
  }
  const little = await planOf({ status: 'complete', payment_currency: 'EUR', order_by: 'value_date' });
  assert.ok(little.read <= 2_000, `${little.read} rows were read`);
});

test('an amount range walks where much matches, and collects where little does', async () => {
  const much = await planOf({ amount: 3_000, amount_range: 'over' });
  assert.deepEqual(much.indexes, ['payments_amount', 'payments_created']);
  assert.ok(much.read < 4_000, `${much.read} rows were read`);
  const little = await planOf({ amount: 19_990, amount_range: 'over' });
  assert.ok(little.read < 500, `${little.read} rows were read`);
});

test('a connection that answers requests plans a page once, not at every call', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const pool = createPool(service.databaseUrl, service.service.context.log, { max: 1 });
  try {
    for (let call = 0; call < 8; call += 1) await searchPayments(pool, view, readSearch({}));
    const { rows } = await pool.query('select custom_plans, generic_plans from pg_prepared_statements');
    assert.deepEqual(rows, [{ custom_plans: 0, generic_plans: 8 }]);
  } finally {
    await pool.end();
  }
});

test('the roll-up finds what is new by index, whatever the table has room for', async () => {
  await db.query(
    "update payments set amount = amount + 1 where client_id = 'CLI-LARGE' and payment_id in (select 'LARGE' || i from generate_series(1, 5000) i)",
  );
  await db.query('select roll_up_payment_totals(1000000)');
  await db.query('vacuum payment_total_deltas');
  const scans = "select seq_scan from pg_stat_user_tables where relname = 'payment_total_deltas'";
  await db.query('select pg_stat_force_next_flush()');
  const before = (await db.query(scans)).rows[0].seq_scan;
  assert.equal((await db.query('select roll_up_payment_totals(1000000) as rows')).rows[0].rows, '0');
  await db.query('select pg_stat_force_next_flush()');
  assert.equal((await db.query(scans)).rows[0].seq_scan, before);
});

test('the first page reads figures that are kept, and no payment', async () => {
  const plan = await planOfStatement(figuresStatement([view.clientId, view.viewer, '2025-06-01']));
  assert.deepEqual(plan.indexes, []);
  for (const kept of ['payment_approver_totals_pkey', 'payment_waiting_totals_pkey'])
    assert.equal(plan.nodes.filter((node) => node['Index Name'] === kept).length, 2, JSON.stringify(plan.nodes));
  assert.ok(
    plan.nodes.every((node) => (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) < 2_500),
    JSON.stringify(plan.nodes),
  );
});

/** A server as PostgreSQL sets it up by itself, without what a migration sets for the service (src/database/plan-settings.ts). */
const DEFAULT_SETTINGS = `set random_page_cost = 4; set jit = on; set max_parallel_workers_per_gather = 2; set plan_cache_mode = auto`;

/** What `readOutlook` says, from the rows themselves. */
async function outlookOfRows(clientId: string, today: string): Promise<unknown> {
  const { rows: leaving } = await db.query(
    `select greatest(payment_date, $2::date)::text as day, payment_currency as currency, count(*)::int as count,
        trim_scale(sum(amount))::text as amount
      from payments where client_id = $1 and phase in (1, 2) and payment_date <= $2::date + 14 and status <> 'Executing Payment'
      group by 1, 2 order by 2, 1`,
    [clientId, today],
  );
  const { rows: wrong } = await db.query(
    `select payment_id, amount::text as amount, payment_currency, beneficiary_name,
        case when returned then 'returned' when invalidated then 'invalidated' when return_started then 'return_started' else 'information' end as what,
        case when phase = 5 then cancelled_date end as at
      from payments where client_id = $1
        and (phase = 2 and (return_started or status = 'Need more beneficiary information')
          or phase = 5 and created >= $2::date - 90 and (invalidated or returned) and cancelled_date >= $2::date - 14)
      order by at desc nulls first, created desc limit 10`,
    [clientId, today],
  );
  return { leaving, wrong };
}

test('what leaves and what went wrong reads few payments, and says what all rows say', async () => {
  const today = '2025-06-20';
  await db.query(
    `update payments set invalidated = amount % 3 = 0, returned = amount % 5 = 0, cancelled_date = created + amount % 120 * interval '1 day'
     where client_id = 'CLI-LARGE' and phase = 5`,
  );
  await db.query(
    `update payments set return_started = true
     where client_id = 'CLI-LARGE' and status = 'Waiting for payment date' and amount % 100 = 0`,
  );
  await db.query('vacuum (analyze) payments');
  const cells = await readPaths(db);
  const { cell } = (await service.query('select cell from clients where client_id = $1', [view.clientId])).rows[0];
  const compared: number[] = [];
  /** Compares, and returns how many rows of payments were read. */
  const read = async (setUp: string): Promise<number> => {
    const pool = createPool(service.databaseUrl, service.service.context.log, { max: 1, setUp, cells });
    const readSoFar = async (): Promise<number> => {
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query<{ n: number }>(
        `select seq_tup_read + coalesce(idx_tup_fetch, 0) as n from pg_stat_user_tables
         where relname = 'payments' and schemaname = current_schema()`,
      );
      return rows[0]?.n ?? 0;
    };
    try {
      const [before, { leaving, wrong }, after] = await inCell(cell, async () => [
        await readSoFar(),
        await readOutlook(pool, view.clientId, today),
        await readSoFar(),
      ]);
      assert.deepEqual({ leaving, wrong }, await outlookOfRows(view.clientId, today));
      assert.ok(leaving.length > 40 && wrong.length === 10, `${leaving.length} sums, ${wrong.length} payments`);
      compared.push(leaving.reduce((sum, { count }) => sum + count, 0));
      return after - before;
    } finally {
      await pool.end();
    }
  };
  for (const setUp of ['', DEFAULT_SETTINGS]) {
    const rows = await read(setUp);
    assert.ok(rows <= FEW, `${rows} rows were read (${setUp})`);
  }
  // Sums that are not rolled up yet, and fewer payments that cannot go on, so that ended ones are listed.
  await db.query(
    `update payments set amount = amount + 0.5 where client_id = 'CLI-LARGE' and phase = 1 and payment_id like 'LARGE11%'`,
  );
  await db.query(
    `update payments set status = 'Executing Payment', return_started = false
     where client_id = 'CLI-LARGE' and (status = 'Need more beneficiary information' or return_started) and amount <> 14`,
  );
  await read('');
  assert.ok((compared[1] as number) > (compared[2] as number) && compared[0] === compared[1], compared.join());
});

test('the institution’s search reads what a text names, and no table whole', async () => {
  await db.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
     select 'CROWD' || i, 'Crowd', 'crowd' || i || '@example.com', 'none', false, now() from generate_series(1, 5000) i`,
  );
  await db.query(
    `insert into refused_requests (at, listener, status, request_id)
     select now() - i * interval '1 second', 'client', 404, 'request-' || i from generate_series(1, 20000) i`,
  );
  await db.query(
    `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, name_key, active, authorised, blocked, completed, verified, created_at)
     select 'BEN-CROWD' || i, 'CLI-LARGE', 'Crowd ' || i, 'crowd ' || i, true, true, false, true, false, now() from generate_series(1, 10000) i`,
  );
  await db.query(`update beneficiaries set name_key = 'müller' where beneficiary_id like 'BEN-LARGE-%'`);
  await db.query(
    `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency, buy_amount,
       sell_amount, order_date, synthetic, created_at)
     select 'TRD-CROWD' || i, 'CLI-LARGE', 'CON-LARGE', 'Created', 'spot', 'GBPEUR', 1.17, 'EUR', 'GBP', 117, 100, '2026-01-05', false, now()
     from generate_series(1, 10000) i`,
  );
  await db.query(
    `insert into quotes (quote_id, client_id, contact_id, trade_type, operation, rate, inverse_rate, buy_amount, buy_currency, sell_amount,
       sell_currency, value_date, maturity_date, created_at, expires_at, mid, spread_bps, rate_as_of)
     select lpad(i::text, 32, '0'), 'CLI-LARGE', 'CON-LARGE', 'spot', 'sell', 1.1, 0.9, 110, 'EUR', 100, 'GBP', now(), now(), now(), now(),
       1.2, 50, now() from generate_series(1, 1000) i`,
  );
  await db.query('vacuum (analyze) contacts, refused_requests, beneficiaries, trades, quotes');
  const { rows: some } = await db.query(`select uuid from payments where payment_id = 'LARGE777'`);
  const people = ['crowd777@example.com', 'CROWD777'];
  const dealt = ['Crowd 777', 'BEN-LARGE-1', 'Müller', 'TRD-CROWD777', '777'.padStart(32, '0')];
  const texts = ['LARGE777', some[0].uuid, 'R777', ...people, ...dealt, 'request-777', 'nothing at all'];
  const cells = await readPaths(db);
  for (const setUp of ['', DEFAULT_SETTINGS]) {
    const pool = createPool(service.databaseUrl, service.service.context.log, { max: 1, setUp, cells });
    const readRows = async (): Promise<number> => {
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query<{ n: number }>(
        `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as n from pg_stat_user_tables
         where relname in ('payments', 'trades', 'quotes', 'beneficiaries', 'contacts', 'refused_requests')`,
      );
      return rows[0]?.n ?? 0;
    };
    try {
      for (const text of texts) {
        const before = await readRows();
        const finds = await inCell('all', () => findNamed({ ...service.service.context, pool }, text));
        const read = (await readRows()) - before;
        assert.equal(finds.length > 0, text !== 'nothing at all', text);
        assert.ok(read <= FEW, `${text}: ${read} rows were read (${setUp})`);
      }
    } finally {
      await pool.end();
    }
  }
});

test('marks look at one payment to a payee, however many it has got', async () => {
  await db.query(`update payments set sent_date = created where client_id = 'CLI-P1'`);
  await db.query('vacuum (analyze) payments');
  for (const word of ['LARGE', 'P1']) {
    const { rows } = await db.query(`select payment_id from payments where client_id = $1 and phase = 1 limit 50`, [
      `CLI-${word}`,
    ]);
    const ids = rows.map(({ payment_id }) => payment_id);
    const plan = await planOfStatement(
      marksStatement({ clientId: `CLI-${word}`, paymentIds: ids, today: '2025-01-20' }),
    );
    const sent = plan.nodes.find((node) => node['Index Name'] === 'payments_sent');
    assert.ok(sent, plan.indexes.join());
    assert.ok((sent['Actual Rows'] ?? 0) <= 1);
    assert.ok(plan.read <= 2 * ids.length, `${word}: ${plan.read} rows were read`);
  }
});

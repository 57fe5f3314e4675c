import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { approvalsWorld, copyPayment } from '../world/approvals.ts';
import { onServer } from '../world/cluster.ts';
import { createDatabaseOfOneCell, type TestDatabase } from '../world/database.ts';
import { pageSession } from '../world/page-session.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/**
 * A client with many payments among thousands that have a few. The planner knows the average only, so that going through all payments of
 * "a client" looks cheap to it. Nothing that is done with one payment may do that.
 */
const MANY = 20_000;
const OTHERS = 4_000;
/** Entries of an index, of all that the calls of this test read. */
const MOST_ENTRIES = 2_000;

const PAGES = [
  '',
  '&order=desc&page=3',
  '&order_by=value_date&page_size=100',
  '&status=pending',
  '&status=pending_your_approval',
  '&status=pending_others_approval',
  '&payment_currency=EUR&status=pending',
  '&status=cancelled',
];

let database: TestDatabase;
let service: TestService;
before(async () => {
  database = await createDatabaseOfOneCell();
  service = await startTestService({}, { url: database.url, drop: async () => {} });
});
let stopped = false;
after(async () => {
  if (!stopped) await service?.stop();
  await database?.drop();
});

test('what is done with one payment reads no index of all payments of its client', async () => {
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  const first = await world.create();
  await copyPayment(service, first, MANY - 1);
  await service.query(
    `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, created_at)
     select 'FEW-' || i, 'Few', 'enabled', true, false, 'simple', false, false, now() from generate_series(1, $1::int) i`,
    [OTHERS],
  );
  for (const [table, key] of [
    ['beneficiaries', 'beneficiary_id'],
    ['trades', 'trade_id'],
  ] as const) {
    const { rows } = await service.query(
      `select string_agg(attname, ', ') as names from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
         and attgenerated = '' and attidentity = '' and attname not in ('client_id', $2)`,
      [table, key],
    );
    await service.query(
      `insert into ${table} (client_id, ${key}, ${rows[0].names}) select 'FEW-' || i, 'FEW-' || i, ${rows[0].names}
       from ${table}, generate_series(1, $2::int) i where client_id = $1`,
      [world.clientId, OTHERS],
    );
  }
  // Nothing is counted of these: the roll-up looks each of their trades up.
  const { rows } = await service.query(
    `select string_agg(attname, ', ') as names from pg_attribute where attrelid = 'payments'::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' and attname not in ('id', 'client_id', 'payment_id', 'trade_id', 'beneficiary_id', 'uuid')`,
  );
  await service.query(
    `insert into payments (client_id, payment_id, trade_id, beneficiary_id, uuid, ${rows[0].names})
     select 'FEW-' || 1 + i % $2, 'FEW-' || i, 'FEW-' || 1 + i % $2, 'FEW-' || 1 + i % $2, gen_random_uuid(), ${rows[0].names}
     from payments, generate_series(1, 3 * $2::int) i, (select set_config('lombard.totals_move', 'on', true)) uncounted where payment_id = $1`,
    [first, OTHERS],
  );
  await service.query('vacuum (analyze)');
  // What this session has counted so far comes first.
  await service.query('select pg_stat_force_next_flush()');
  await service.query('select pg_stat_reset()');

  const made = [await world.create(), await world.create(200)];
  const imported = await fetch(`${service.operatorUrl}/imports/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson' },
    body: [1, 2].map((n) => `${JSON.stringify({ ...world.base, payment_id: `IMPORTED-${n}` })}\n`).join(''),
  });
  assert.equal(((await imported.json()) as { accepted: number }).accepted, 2);
  const ann = world.person('ann');
  const approved = await world.patch(ann, made[0] as string, 'authorise');
  assert.equal(approved.status, 204, approved.text);
  const acted = await service.operator('POST', `/payments/${made[1]}/actions`, { action: 'cancel', reason: 'double' });
  assert.equal(acted.status, 200, acted.text);
  const late = await world.patch(ann, made[1] as string, 'authorise');
  assert.equal(late.status, 409, late.text);
  assert.equal((await world.payment(made[0] as string, ann)).payment_id, made[0]);
  for (const query of PAGES) {
    const page = await world.ask(ann, 'GET', '/payments', undefined, query);
    assert.equal(page.status, 200, page.text);
  }
  const pages = await pageSession(service, ann.id);
  for (const data of ['home', 'outlook']) {
    const shown = await pages.call('GET', `/app/data/${data}?client_id=${world.clientId}`);
    assert.equal(shown.status, 200, shown.text);
  }
  // What follows from it: the feed, the totals.
  await until(async () => {
    const { rows: left } = await service.query(
      'select (select count(*) from changes_unpublished)::int + (select count(*) from payment_total_deltas)::int as n',
    );
    return left[0].n === 0;
  });
  // Sessions tell what they counted when they end.
  stopped = true;
  await service.stop();
  const read = await onServer(database.url, (client) =>
    client.query<{ index: string; entries: string }>(
      `select indexrelname as index, idx_tup_read as entries from pg_stat_user_indexes
       where relname in ('payments', 'payment_approvals', 'payment_approvers', 'beneficiaries', 'trades') and idx_tup_read > $1 order by 2 desc`,
      [MOST_ENTRIES],
    ),
  );
  assert.deepEqual(read.rows, []);
});

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { OWN_LOCKS } from '../world/cells.ts';
import { workersOf } from '../world/cluster.ts';
import { type Command, lombard, PORTS, printed } from '../world/command.ts';
import { FX_OPEN, moveClock } from '../world/exchange.ts';
import { filesOf, NEW, ROW } from '../world/files.ts';
import { ordersWorld } from '../world/orders.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** A file's payments are made once, all of them, whatever dies while it is judged and made (instructions, second page, 8). */

/** Rows: several batches are judged and made. */
const ROWS = 600;
/** The lock that a worker waits for within each transaction of a file. */
const GATE = 4_711;
/** A worker dies on the way to each status, and within a batch of both kinds. */
const DEATHS: [name: string, when: string][] = [
  ['on the way to Processing', `new.status = 'Processing' and new.processed = 0`],
  ['while the last batch is judged', `new.status = 'Processing' and new.processed = ${ROWS}`],
  ['on the way to Processed', `new.status = 'Processed'`],
  ['on the way to Queued for creating', `new.status = 'Queued for creating'`],
  ['on the way to Creating', `new.status = 'Creating' and new.made = 0`],
  ['while a later batch is made', `new.status = 'Creating' and new.made > 250`],
  ['on the way to Created', `new.status = 'Created'`],
];

let service: TestService;
/** A connection to each server that may have the client's cell: workers of a cluster have locks of their own. */
const gates: pg.Client[] = [];
before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
  await moveClock(service, FX_OPEN);
  await service.operator('PUT', '/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185 } });
  for (const connectionString of [service.databaseUrl, ...(await workersOf(service.databaseUrl))]) {
    const gate = new pg.Client({ connectionString });
    await gate.connect();
    gates.push(gate);
  }
  await service.query(`create or replace function public.gate() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end'`);
});
after(async () => {
  for (const gate of gates) await gate.end();
  await service.stop();
});

/** Asks each server. @returns how many rows they have in all */
async function atGates(text: string): Promise<number> {
  const found = await Promise.all(gates.map((gate) => gate.query(text)));
  return found.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
}

/** A worker that is killed: a process of its own, on the same database. */
async function startWorker(): Promise<Command> {
  const command = lombard(['serve'], {
    ...PORTS,
    DATABASE_URL: service.databaseUrl,
    LOMBARD_ROLES: 'worker',
    LOMBARD_DATA_DIR: service.config.dataDir,
    HOME: service.config.dataDir,
  });
  await printed(command, /"msg":"ready"/);
  return command;
}

/** Starts a worker, and kills it within the transaction in which its file becomes this. */
async function dies(when: string): Promise<void> {
  await atGates(`select pg_advisory_lock(${GATE})`);
  await service.query(
    `create or replace trigger gate before update on mass_payments for each row when (${when}) execute function public.gate()`,
  );
  const worker = await startWorker();
  const waiting = `select from pg_locks where locktype = 'advisory' and objid = ${GATE} and not granted and ${OWN_LOCKS}`;
  await until(async () => (await atGates(waiting)) > 0, { what: 'a worker at the gate' });
  worker.child.kill('SIGKILL');
  await worker.ended;
  await atGates(`select pg_advisory_unlock(${GATE})`);
  // Its transaction ends once the database has noticed.
  const under = `select from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
    and query ilike '%mass_payment%'`;
  await until(async () => (await atGates(under)) === 0);
}

test('killed at each status, workers make each payment of a file once', { timeout: 600_000 }, async (t) => {
  const world = await ordersWorld(service, { funds: '100000.00', client: { fx_enabled: true } });
  const files = filesOf(service, world);
  const rows = Array.from({ length: ROWS }, (_, n) =>
    n % 100 === 99
      ? { ...ROW, ...NEW, payment_amount: 2, payment_reference: `New ${n}` }
      : files.row(1, { payment_reference: `Known ${n}` }),
  );
  const dollars = await service.operator('POST', '/beneficiaries', {
    ...{ client_id: world.clientId, beneficiary_name: 'Pound Ltd', currency: 'GBP', iban: 'GB33BUKB20201555555555' },
  });
  rows[7] = files.row(3, { payment_currency: 'GBP', beneficiary_id: dollars.body.beneficiary_id });
  const sent = await files.send(files.file(rows, { auto_commit: true }));
  assert.equal(sent.status, 202, sent.text);
  const { mass_payment_id: id } = sent.body;
  for (const [name, when] of DEATHS)
    await t.test(name, async () => {
      await dies(when);
    });
  await service.query('drop trigger gate on mass_payments');
  const last = await startWorker();
  t.after(() => last.child.kill('SIGKILL'));
  const made = await files.reaches(id, 'Created', 'Failed');
  assert.equal(made.mass_payment_status, 'Created', JSON.stringify(made.error));
  assert.deepEqual(made.payments_summary, {
    ...{ payments_received: ROWS, payments_processed: ROWS, payments_errored: 0, payments_created: ROWS },
  });
  assert.deepEqual([made.trades_created, made.new_beneficiaries], [ROWS, 1]);
  const { rows: counted } = await service.query(
    `select count(*)::int as payments, count(distinct request_index)::int as rows, count(distinct trade_id)::int as trades, sum(amount)::text as paid
     from payments where client_id = $1 and mass_payment_id = $2`,
    [world.clientId, id],
  );
  assert.deepEqual(counted, [{ payments: ROWS, rows: ROWS, trades: ROWS, paid: '608' }]);
  const { rows: trades } = await service.query(
    `select count(*) filter (where buy_currency = sell_currency)::int as own, count(*)::int as trades from trades
     where client_id = $1 and source = 'client'`,
    [world.clientId],
  );
  assert.deepEqual(trades, [{ own: ROWS - 1, trades: ROWS }]);
  const { body: payees } = await world.ask('GET', '/beneficiaries', undefined, '&name=neu gmbh');
  assert.equal(payees.length, 1);
  const [balance, held, available] = await world.funds();
  const { rows: holds } = await service.query(
    `select count(*)::int as holds, sum(amount)::text as held from holds where client_id = $1 and closed_at is null`,
    [world.clientId],
  );
  assert.deepEqual([holds[0].holds, Number(holds[0].held)], [ROWS, Number(held)]);
  assert.equal(Number(available), Number(balance) - Number(held));
  const { rows: events } = await service.query(
    `select body from webhook_events where client_id = $1 and type = 'MASS_PAYMENT_STATUS_CHANGE' order by id`,
    [world.clientId],
  );
  assert.deepEqual(
    events.map(({ body }) => JSON.parse(body).data[0].mass_payment_status),
    ['Processing', 'Processed', 'Queued for creating', 'Creating', 'Created'],
  );
});

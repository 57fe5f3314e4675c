import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, lombard, PORTS, printed } from '../world/command.ts';
import { startServer } from '../world/database.ts';
import { type OrdersWorld, ordersWorld } from '../world/orders.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';

/** Money is spent once, whatever is killed while many order at the same time. */
const CALLERS = 100;
/** What the account covers: half of the callers. */
const COVERED = 50;

const shared = process.env.LOMBARD_TEST_SERVER;
let server: Awaited<ReturnType<typeof startServer>>;
let service: TestService;
let world: OrdersWorld;
before(async () => {
  // A server of its own, which can be killed. It is started again by itself.
  server = await startServer();
  process.env.LOMBARD_TEST_SERVER = server.url;
  service = await startTestService();
  world = await ordersWorld(service, { funds: `${COVERED * 100}.00` });
});
after(async () => {
  await service.stop();
  await server.stop();
  // Later files of this process use the run's own again.
  if (shared === undefined) delete process.env.LOMBARD_TEST_SERVER;
  else process.env.LOMBARD_TEST_SERVER = shared;
});

/** kill -9 of PostgreSQL's first process; the others end when they notice. */
async function killDatabase(): Promise<void> {
  const { rows } = await service.query("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid");
  process.kill(rows[0].pid, 'SIGKILL');
}

/** A service that is killed: a process of its own, on the same database. */
async function startVictim(): Promise<{ command: Command; url: string }> {
  const command = lombard(['serve'], {
    ...PORTS,
    DATABASE_URL: service.databaseUrl,
    LOMBARD_API_RATE: '0',
    LOMBARD_ROLES: 'api',
    LOMBARD_DATA_DIR: service.config.dataDir,
    HOME: service.config.dataDir,
  });
  const [, url] = await printed(command, /"api":"([^"]+)".*"msg":"ready"/);
  return { command, url: url as string };
}

/** An order under a key, sent again until it has an answer that is one: where the answer was lost, nobody knows what became of it. */
async function insist(urls: readonly string[], body: object, key: string): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    const url = `${urls[attempt % urls.length]}/payments?client_id=${world.clientId}`;
    const headers = { 'idempotency-key': key };
    const answer = await call(url, 'POST', { token: world.token, body, headers }).catch(() => undefined);
    if (answer && answer.status < 500 && answer.status !== 429) return answer;
    await pause(20);
  }
}

test('a hundred order at once, each under its key, while service and database are killed: exactly what the money covers', {
  timeout: 240_000,
}, async (t) => {
  const victim = await startVictim();
  t.after(() => victim.command.child.kill('SIGKILL'));
  const body = { funding_account_id: world.account, reason: 'other', payments: [world.payment('100.00')] };
  const answered: Answer[] = [];
  const callers = Array.from({ length: CALLERS }, async (_, index) => {
    const urls = index % 2 === 0 ? [victim.url, service.api] : [service.api];
    const key = `order ${index}`.replace(' ', '-');
    // Each is sent twice under its key.
    const both = await Promise.all([insist(urls, body, key), insist(urls.toReversed(), body, key)]);
    answered.push(both[0]);
    assert.deepEqual([both[1].status, both[1].text], [both[0].status, both[0].text]);
  });
  const kills = (async () => {
    while (answered.length < CALLERS / 10) await pause(5);
    victim.command.child.kill('SIGKILL');
    while (answered.length < CALLERS / 5) await pause(5);
    await killDatabase();
  })();
  await Promise.all([...callers, kills]);
  const made = answered.filter(({ status }) => status === 201);
  assert.equal(new Set(made.map(({ body: [payment] }) => payment.payment_id)).size, COVERED);
  for (const { status, body: refusal } of answered.filter((each) => each.status !== 201))
    assert.deepEqual([status, refusal.code], [409, 'insufficient_funds']);
  const { rows } = await service.query(
    `select (select count(*)::int from payments where client_id = $1) as payments, (select sum(amount)::text from holds where client_id = $1) as held`,
    [world.clientId],
  );
  assert.deepEqual(rows[0], { payments: COVERED, held: `${COVERED * 100}.00` });
  assert.deepEqual(await world.funds(), [`${COVERED * 100}.00`, `${COVERED * 100}.00`, '0.00']);
});

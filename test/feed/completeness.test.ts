import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { createWorld } from '../world/client.ts';
import { type Command, lombard, PORTS, printed } from '../world/command.ts';
import { startServer } from '../world/database.ts';
import { type Change, compareCopy, copyOf } from '../world/feed-copy.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Writers at the same time, and what is killed under them, in an order of the seed. */
const WRITERS = 50;
const KILLS = ['service', 'connections', 'database', 'both'];
/** Answered calls between two kills. */
const MIN_ANSWERS = 25;
const CONNECTION_END_MS = 10_000;
const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Date.now() % 100_000);

/** Links in records are made from it: both processes have the same. */
const API_URL = 'http://api.example.com';

const shared = process.env.LOMBARD_TEST_SERVER;
let server: Awaited<ReturnType<typeof startServer>>;
let service: TestService;
before(async () => {
  // A server of its own, which can be killed. It is started again by itself.
  server = await startServer();
  process.env.LOMBARD_TEST_SERVER = server.url;
  service = await startTestService({ LOMBARD_API_URL: API_URL });
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

/** The database ends every connection of the services, and with them what they have begun. */
const killConnections = () =>
  service.query(
    `select pg_terminate_backend(pid, ${CONNECTION_END_MS}) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'lombard%'`,
  );

const databaseAnswers = () =>
  service.query('select 1').then(
    () => true,
    () => false,
  );

/** The service that is killed: a process of its own, on the same database. */
async function startVictim(): Promise<{ command: Command; url: string }> {
  const command = lombard(['serve'], {
    ...PORTS,
    DATABASE_URL: service.databaseUrl,
    LOMBARD_API_URL: API_URL,
    LOMBARD_ROLES: 'operator,worker',
    LOMBARD_DATA_DIR: service.config.dataDir,
    LOMBARD_OPERATOR_TOKEN: service.operatorToken,
    HOME: service.config.dataDir,
  });
  const [, url] = await printed(command, /"operator":"([^"]+)".*"msg":"ready"/);
  return { command, url: url as string };
}

test('50 writers, service and database killed again and again: the copy of a reader equals the tables', {
  timeout: 240_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const seeded = new Seeded(SEED);
  const random = () => seeded.next();
  const any = <T>(list: readonly T[]): T => seeded.pick(list);
  const worlds: Awaited<ReturnType<typeof createWorld>>[] = [];
  for (let n = 0; n < 3; n += 1)
    worlds.push(
      await createWorld(service, `Client ${n}`, { payment_approvals_enabled: n > 0, authorisation_workflow: '4-eyes' }),
    );
  const approvers = await Promise.all(worlds.map((world) => world.hire('Approver')));
  const accounts: number[] = [];
  for (const world of worlds) {
    const opened = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
    accounts.push(opened.body.account_id);
  }
  const payments: { id: string; world: number }[] = [];

  let target = '';
  let writing = true;
  let answered = 0;
  const write = async (method: string, path: string, body: unknown) => {
    const answer = await call(`${target}${path}`, method, { body, token: service.operatorToken });
    if (answer.status < 500) answered += 1;
    return answer;
  };
  const operations: (() => Promise<unknown>)[] = [
    async () => {
      const at = Math.floor(random() * worlds.length);
      const made = await write('POST', '/payments', worlds[at]?.base);
      if (made.status === 201) payments.push({ id: made.body.payment_id, world: at });
    },
    async () => {
      const payment = any(payments);
      if (!payment) return;
      const contact = approvers[payment.world]?.contactId;
      const action = any(['authorise', 'validate', 'cancel', 'send', 'reject', 'complete']);
      await write('POST', `/payments/${payment.id}/actions`, { action, contact_id: contact });
    },
    async () => {
      const at = Math.floor(random() * worlds.length);
      const amount = { amount: '1.00', currency: 'EUR' };
      const kind = any(['CREDIT_TRANSACTION', 'DEBIT_TRANSACTION']);
      await write('POST', '/transactions', {
        client_id: worlds[at]?.clientId,
        currency_account_id: accounts[at],
        kind,
        amount,
      });
    },
    async () => {
      const at = Math.floor(random() * worlds.length);
      const lines = Array.from({ length: 4 }, () => JSON.stringify(worlds[at]?.base));
      const headers = { 'content-type': 'application/x-ndjson' };
      const path = `${target}/imports/payments`;
      await call(path, 'POST', { raw: lines.join('\n'), headers, token: service.operatorToken });
    },
    () => write('PATCH', `/clients/${any(worlds).clientId}`, { client_name: `Name ${Math.floor(random() * 5)}` }),
    () => {
      const world = any(worlds);
      const permissions = random() < 0.5 ? ['can_authorise_payments'] : [];
      const clients = [{ client_id: world.clientId, permissions }];
      return write('PATCH', `/contacts/${world.contactId}`, { clients });
    },
  ];
  const writers = Array.from({ length: WRITERS }, async () => {
    // A killed service breaks calls: their outcome is unknown, and the feed must show it whichever it was.
    while (writing) await any(operations)().catch(() => pause(50));
  });
  t.after(() => {
    writing = false;
  });

  const read: Change[] = [];
  const reader = (async () => {
    for (let cursor = ''; ; ) {
      const last = !writing;
      const query = `/changes?limit=${1 + Math.floor(random() * 200)}${cursor && `&after=${cursor}`}`;
      const { status, body, text } = await service.operator('GET', query);
      // The database is gone: the same page is asked for again.
      if (status >= 500) {
        await pause(50);
        continue;
      }
      assert.equal(status, 200, text);
      read.push(...body.changes);
      cursor = body.cursor;
      if (last && !body.more && (await service.query('select from changes_unpublished')).rowCount === 0) {
        const rest = await service.operator('GET', `/changes?limit=1000&after=${cursor}`);
        read.push(...rest.body.changes);
        return;
      }
    }
  })();

  const order = KILLS.map((what) => ({ what, place: random() })).sort((a, b) => a.place - b.place);
  let victim = await startVictim();
  for (const { what } of order) {
    target = victim.url;
    const goal = answered + MIN_ANSWERS * (1 + random());
    await until(() => answered >= goal, { seconds: 60 });
    t.diagnostic(`kill -9: ${what}`);
    const kills = { service: what === 'service' || what === 'both', database: what === 'database' || what === 'both' };
    if (what === 'connections') await killConnections();
    if (kills.database) await killDatabase();
    if (kills.service) {
      victim.command.child.kill('SIGKILL');
      await victim.command.ended;
    }
    await until(databaseAnswers, { seconds: 60 });
    if (kills.service) victim = await startVictim();
  }
  target = victim.url;
  const goal = answered + MIN_ANSWERS;
  await until(() => answered >= goal, { seconds: 60 });
  victim.command.child.kill('SIGKILL');
  await victim.command.ended;
  // A killed service may have sent a commit that is still to be done, behind the reader's back.
  await killConnections();
  writing = false;
  await Promise.all(writers);
  await reader;

  const copy = copyOf(read);
  t.diagnostic(`${read.length} changes of ${copy.size} records`);
  await compareCopy(service, copy);
});

/**
 * Events of single calls: POST /transactions, each notified to a subscription of its client, until the last one has arrived. One process for
 * all roles, and one for each of three. `npm run bench -- events [events]`; docs/performance-webhooks.md has the numbers.
 */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { transaction } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pools.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { Vault } from '../src/values/crypto.ts';
import { createSubscription } from '../src/webhooks/subscription.ts';
import { ask } from './ask.ts';
import { ACCOUNTS, fill, send } from './bookings.ts';
import { processorSeconds } from './feed/processor-time.ts';
import { type FedService, serverClock, startFedService } from './feed/service.ts';
import { log } from './payments-data.ts';

const EVENTS = 20_000;
const WARM_UP_EVENTS = 1_000;
const CALLERS = 16;
const LOOK_MS = 5;
const ALL = 'api,auth,trusted,operator,worker';
const ARRANGEMENTS: Record<string, string[]> = {
  'one process': [ALL],
  'three processes': ['operator', 'api,auth,trusted', 'worker'],
};

export async function run([count]: string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-events-'));
  const key = randomBytes(32);
  const receiver = fork(new URL('./webhooks/receiver.ts', import.meta.url));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  const db = new pg.Client({ connectionString: database.socketUrl });
  const services: FedService[] = [];
  try {
    const { port } = await ask(receiver);
    await migrate(database.socketUrl, log);
    await db.connect();
    const server = await serverClock(db);
    const start = async (roles: string) => {
      const environment = { LOMBARD_ROLES: roles, LOMBARD_MASTER_KEY: key.toString('base64') };
      const started = await startFedService(
        database.socketUrl,
        join(folder, `service-${services.length}`),
        environment,
      );
      services.push(started);
      return started;
    };
    print(
      '| | events | a second | program ms each | PostgreSQL ms each | seconds for 1,000 |\n|---|---|---|---|---|---|',
    );
    for (const [name, roles] of Object.entries(ARRANGEMENTS)) {
      const [first] = [await start(roles[0] ?? ALL)];
      for (const each of roles.slice(1)) await start(each);
      if (name === 'one process') {
        await fill(first.operator);
        await subscribe(database.socketUrl, key, `http://127.0.0.1:${port}/`);
      }
      const program = () => services.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
      await deliver(first.operator, () => ask(receiver, 'count'), WARM_UP_EVENTS);
      await ask(receiver, 'take');
      const [programBefore, serverBefore, began] = [program(), server(), performance.now()];
      const events = Number(count ?? EVENTS);
      await deliver(first.operator, () => ask(receiver, 'count'), events);
      const seconds = (performance.now() - began) / 1_000;
      await ask(receiver, 'take');
      const each = [program() - programBefore, server() - serverBefore].map((spent) => (spent * 1_000) / events);
      const total = each.reduce((sum, spent) => sum + spent, 0);
      print(
        `| ${name} | ${events} | ${(events / seconds).toFixed(0)} | ${each.map((spent) => spent.toFixed(2)).join(' | ')} | ` +
          `${total.toFixed(2)} |`,
      );
      for (const service of services.splice(0)) await service.stop();
    }
  } finally {
    for (const service of services) await service.stop();
    receiver.kill();
    await db.end().catch(() => {});
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Gives each client a subscription for its bookings. */
async function subscribe(url: string, key: Buffer, receiver: string): Promise<void> {
  const pool = createPool(url, log, { max: 1, background: true });
  const settings = { sandbox: true, brand: 'Service', vault: new Vault(key), streamUrl: 'http://service.example' };
  const act = { now: new Date(), actor: 'bench', requestId: 'bench' };
  for (let n = 1; n <= ACCOUNTS; n += 1) {
    const wanted = { clientId: `BENCH${n}`, contactId: 'CON', url: receiver, active: true, secret: 'secret' };
    const types = ['CREDIT_INCOMING_TRANSACTION'];
    await transaction(pool, (tx) => createSubscription(tx, act, { ...wanted, types }, settings));
  }
  await pool.end();
}

/** Books, and waits until the receiver has heard of each booking. */
async function deliver(operator: string, arrived: () => Promise<{ count: number }>, events: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const left = Array.from({ length: events }, (_, n) => n).values();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (const n of left) await send(agent, operator, 1 + (n % ACCOUNTS));
    }),
  );
  agent.destroy();
  while ((await arrived()).count < events) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

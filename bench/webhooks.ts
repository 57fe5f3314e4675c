/**
 * Speed of webhook deliveries: `npm run bench -- webhooks`. Database, service, receiver and writer are processes of
 * their own on this machine. Prints each figure beside its target, as a Markdown table; docs/performance-webhooks.md keeps a run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { Activity } from '../src/database/cells/activity.ts';
import { transaction } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pools.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/process/log.ts';
import { Vault } from '../src/values/crypto.ts';
import { dropOldDays } from '../src/webhooks/delivery/retention.ts';
import { notify, notifyAll } from '../src/webhooks/notification.ts';
import { createSubscription } from '../src/webhooks/subscription.ts';
import { rowByRowRate } from './webhooks/row-by-row.ts';

const CLIENTS = 20;
/** A payment's body has about this many characters. */
const PADDING_CHARACTERS = 1_500;
const BURST_EVENTS = 20_000;
const BACKLOG_DELIVERIES = 1_000_000;
/** The number of bursts, which is odd. */
const BURSTS = 7;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const log = createLog('warn', false);
const dataDir = mkdtempSync(join(tmpdir(), 'lombard-bench-'));
let failed = false;

function report(what: string, measured: string, target: string, reached: boolean): void {
  failed ||= !reached;
  say(`| ${what} | ${measured} | ${target} | ${reached ? 'yes' : 'no'} |`);
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const now = () => Number(process.hrtime.bigint() / 1_000n);

async function child(
  name: string,
  ...args: string[]
): Promise<{ process: ChildProcess; first: Record<string, number> }> {
  const started = fork(fileURLToPath(new URL(`webhooks/${name}.ts`, import.meta.url)), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const first = await new Promise<Record<string, number>>((resolve, reject) => {
    started.once('message', (message) => resolve(message as Record<string, number>));
    started.once('exit', (code) => reject(new Error(`${name} ended: ${code}`)));
  });
  return { process: started, first };
}

function ask<T>(process: ChildProcess, question: string): Promise<T> {
  return new Promise((resolve) => {
    process.once('message', (message) => resolve(message as T));
    process.send(question);
  });
}

const database = await startEmbedded({ dataDir, log });
const pool = createPool(database.socketUrl, log, { max: 8, background: true });
const activity = new Activity(pool, log);
const EVENTS = new Set(['events'] as const);
const receiver = await child('receiver');
const port = receiver.first.port ?? 0;

async function subscribe(client: number, path: string): Promise<string> {
  const act = { now: new Date(), actor: 'bench', requestId: 'bench' };
  const made = {
    clientId: `CLI${client}`,
    contactId: 'CON',
    url: path.startsWith('http') ? path : `http://127.0.0.1:${port}${path}`,
    types: ['PAYMENT_STATUS_CHANGE'],
    active: true,
    secret: 'secret',
  };
  return transaction(pool, (tx) =>
    createSubscription(tx, act, made, {
      sandbox: true,
      brand: 'Service',
      vault: new Vault(Buffer.alloc(32, 7)),
      streamUrl: 'http://service.example',
    }),
  );
}

let events = 0;
const pad = 'x'.repeat(PADDING_CHARACTERS);
const event = (client: number) => {
  events += 1;
  return {
    clientId: `CLI${client}`,
    type: 'PAYMENT_STATUS_CHANGE' as const,
    body: JSON.stringify({ n: events, pad }),
    now: new Date(),
  };
};

function percentiles(values: number[]): { p50: number; p99: number } {
  values.sort((a, b) => a - b);
  const at = (part: number) =>
    (values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN) / 1_000;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Writes events at a steady rate, for the clients in turn. Returns the milliseconds from commit to the arrival of the first attempt. */
async function latency(
  perSecond: number,
  seconds: number,
  clients: number[],
  measured: ReadonlySet<number>,
): Promise<{ p50: number; p99: number }> {
  await ask(receiver.process, 'take');
  const committed = new Map<number, number>();
  const began = performance.now();
  const writes: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const client = clients[index % clients.length] ?? 0;
    const one = event(client);
    const number = events;
    const write = async () => {
      await transaction(pool, (tx) => notify(tx, one));
      if (measured.has(client)) committed.set(number, now());
      activity.wrote([0], EVENTS);
    };
    writes.push(write());
    const wait = began + ((index + 1) * 1_000) / perSecond - performance.now();
    if (wait > 0) await pause(wait);
  }
  await Promise.all(writes);
  await pause(1_500);
  const { arrived } = await ask<{ arrived: [number, number][] }>(receiver.process, 'take');
  const first = new Map<number, number>();
  for (const [number, at] of arrived) if (!first.has(number)) first.set(number, at);
  const delays: number[] = [];
  for (const [number, at] of committed) {
    const arrival = first.get(number);
    if (arrival === undefined) throw new Error(`event ${number} did not arrive`);
    delays.push(Math.max(0, arrival - at));
  }
  return percentiles(delays);
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
const each = ({ p50, p99 }: { p50: number; p99: number }) => `p50 ${ms(p50)}, p99 ${ms(p99)}`;

async function transactions(): Promise<number> {
  const { rows: counted } = await pool.query<{ count: number }>(
    'select pg_stat_clear_snapshot(), xact_commit as count from pg_stat_database where datname = current_database()',
  );
  return counted[0]?.count ?? 0;
}

/** Deliveries per second of a burst whose events are all committed at once. */
async function burst(): Promise<{ rate: number; statements: number }> {
  await ask(receiver.process, 'take');
  await pause(1_200);
  const before = await transactions();
  await transaction(pool, async (tx) => {
    for (let at = 0; at < BURST_EVENTS; at += 1_000) {
      await notifyAll(
        tx,
        Array.from({ length: 1_000 }, (_one, index) => event(1 + ((at + index) % CLIENTS))),
      );
    }
  });
  const began = performance.now();
  activity.wrote([0], EVENTS);
  for (;;) {
    const { count } = await ask<{ count: number }>(receiver.process, 'count');
    if (count >= BURST_EVENTS) break;
    if (performance.now() - began > 60_000) throw new Error(`only ${count} of the burst arrived`);
    await pause(10);
  }
  const rate = BURST_EVENTS / ((performance.now() - began) / 1_000);
  await pause(2_500);
  return { rate, statements: (await transactions()) - before };
}

async function bareLoop(): Promise<number> {
  const loop = await child('bare-loop', String(port), String(BURST_EVENTS), '128', String(PADDING_CHARACTERS));
  await ask(receiver.process, 'take');
  return loop.first.rate ?? 0;
}

/** Creates due deliveries to an endpoint that refuses every connection. */
async function makeBacklog(): Promise<void> {
  const id = await subscribe(0, 'http://127.0.0.1:9/dead');
  await pool.query(
    `with event as (
        insert into webhook_events (client_id, type, body, created_at)
        select 'CLI0', 'PAYMENT_STATUS_CHANGE', '{"n":0}', now() - interval '1 hour' + n * interval '1 ms' from generate_series(1, $2::int) n
        returning id, client_id, created_at),
      made as (
        insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at, attempts_count)
        select notification_id(id, $1, created_at), client_id, $1, id, 'PAYMENT_STATUS_CHANGE', 'pending', created_at, 1 from event)
      insert into webhook_queue (notification_id, client_id, subscription_id, event_id, created_at, due_at, attempts, round_attempts, ping)
      select notification_id(id, $1, created_at), client_id, $1, id, created_at, created_at, 1, 1, false from event`,
    [id, BACKLOG_DELIVERIES],
  );
}

/** Drops a day of 300,000 notifications. Returns milliseconds. */
async function retention(): Promise<number> {
  for (const table of ['webhook_events', 'notifications', 'attempts']) {
    await pool.query("select create_webhook_day($1, '2020-01-01')", [table]);
  }
  for (const insert of [
    `webhook_events (client_id, type, body, created_at)
     select 'CLI0', 'PAYMENT_STATUS_CHANGE', '{}', at`,
    `notifications (id, client_id, subscription_id, event_id, type, status, created_at)
     select gen_random_uuid(), 'CLI0', gen_random_uuid(), n, 'PAYMENT_STATUS_CHANGE', 'delivered', at`,
    `attempts (notification_id, attempt_number, delivery_id, client_id, subscription_id, started_at, duration_ms, created_at)
     select gen_random_uuid(), 1, gen_random_uuid(), 'CLI0', gen_random_uuid(), now(), 1, at`,
  ]) {
    await pool.query(
      `insert into ${insert} from generate_series(1, 300000) n, lateral (select timestamptz '2020-01-01 10:00Z' + n * interval '1 ms' as at) m`,
    );
  }
  const began = performance.now();
  await dropOldDays(pool as pg.Pool, 90, new Date());
  return performance.now() - began;
}

let worker: Awaited<ReturnType<typeof child>> | undefined;
try {
  await migrate(database.socketUrl, log);
  await pool.query(
    "insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at) values ('CON', 'c', 'c@example.com', 'none', false, now())",
  );
  for (let client = 0; client <= CLIENTS + 2; client += 1) {
    await pool.query(
      `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
        payment_creator_approval_enabled, created_at) values ($1, 'c', 'enabled', true, false, 'simple', false, false, now())`,
      [`CLI${client}`],
    );
    if (client >= 1 && client <= CLIENTS) await subscribe(client, `/c${client}`);
  }
  worker = await child('worker', database.socketUrl, dataDir);
  await pause(1_500);
  const all = Array.from({ length: CLIENTS }, (_one, index) => index + 1);
  const measured = new Set(all);
  say(
    `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n\n| | measured | target | reached |\n|---|---|---|---|`,
  );

  await latency(100, 3, all, measured);
  const hundred = await latency(100, 15, all, measured);
  report(
    'commit to first attempt, 100 events/s',
    each(hundred),
    'p50 < 5 ms, p99 < 20 ms',
    hundred.p50 < 5 && hundred.p99 < 20,
  );
  const fiveHundred = await latency(500, 10, all, measured);
  report('commit to first attempt, 500 events/s', each(fiveHundred), 'p99 < 50 ms', fiveHundred.p99 < 50);

  await burst();
  // Alternating, so that other load on the machine affects both. Each burst is compared with the loop after it.
  const turns: { rate: number; statements: number; bare: number }[] = [];
  for (let turn = 0; turn < BURSTS; turn += 1) turns.push({ ...(await burst()), bare: await bareLoop() });
  turns.sort((x, y) => x.rate / x.bare - y.rate / y.bare);
  const { rate, statements, bare } = turns[(BURSTS - 1) / 2] ?? { rate: 0, statements: 0, bare: 0 };
  const ratios = turns.map((turn) => (turn.rate / turn.bare).toFixed(2));
  report(
    `burst of ${BURST_EVENTS}, against a bare loop of signed undici POSTs`,
    `${rate.toFixed(0)}/s of ${bare.toFixed(0)}/s: ${(rate / bare).toFixed(2)} (${ratios[0]} to ${ratios.at(-1)})`,
    '>= 0.5',
    rate / bare >= 0.5,
  );
  const rowByRow = await rowByRowRate(pool, database.socketUrl, {
    folder: dataDir,
    bodyCharacters: PADDING_CHARACTERS,
  });
  if (rowByRow !== undefined) {
    report(
      'burst, against pgbench: insert, claim, attempt row by row',
      `${rate.toFixed(0)}/s of ${rowByRow.toFixed(0)}/s: ${(rate / rowByRow).toFixed(2)}`,
      '>= 1.5',
      rate / rowByRow >= 1.5,
    );
  }
  report(
    `transactions for ${BURST_EVENTS} deliveries`,
    String(statements),
    `< ${BURST_EVENTS / 10}`,
    statements < BURST_EVENTS / 10,
  );

  const hanging = [CLIENTS + 1, CLIENTS + 2];
  for (const client of hanging) await subscribe(client, '/hang');
  const beside = await latency(100, 20, [...all, ...hanging], measured);
  report(
    '100 events/s, a tenth of the subscriptions hang',
    `${each(beside)}: ${(beside.p99 / hundred.p99).toFixed(2)} of p99 without`,
    '<= 1.5 (or within 5 ms)',
    beside.p99 <= Math.max(hundred.p99 * 1.5, hundred.p99 + 5),
  );

  await makeBacklog();
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
  // Waits until the disk has caught up: the bench measures the backlog, not its creation.
  await pause(20_000);
  const behind = await latency(100, 15, all, measured);
  report(
    `100 events/s, ${BACKLOG_DELIVERIES} deliveries of a dead endpoint wait`,
    `${each(behind)}: ${(behind.p99 / hundred.p99).toFixed(2)} of p99 without`,
    '<= 1.5 (or within 5 ms)',
    behind.p99 <= Math.max(hundred.p99 * 1.5, hundred.p99 + 5),
  );
  const burstBehind = await burst();
  report(
    'burst beside that backlog',
    `${burstBehind.rate.toFixed(0)}/s: ${(burstBehind.rate / rate).toFixed(2)} of without`,
    '>= 0.8',
    burstBehind.rate / rate >= 0.8,
  );

  const { peak } = await ask<{ peak: number }>(worker.process, 'peak');
  report(
    'largest resident memory of the worker',
    `${(peak / 1024 ** 2).toFixed(0)} MB`,
    '< 400 MB',
    peak < 400 * 1024 ** 2,
  );
  const took = await retention();
  report('retention drops a day of 300,000 events, notifications and attempts', ms(took), '< 500 ms', took < 500);
} finally {
  worker?.process.kill('SIGKILL');
  receiver.process.kill('SIGKILL');
  await pool.end();
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

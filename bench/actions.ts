/**
 * POST /imports/payment-actions, compared with the same actions as single calls, and payments created by single calls. By default, single
 * calls come one after the other. `npm run bench -- actions [lines] [calls] [callers]`; docs/performance-imports.md and docs/performance.md
 * have the numbers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { callOperator } from '../src/cli/operator-call.ts';
import { migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import type { ImportAnswer } from '../src/imports/import.ts';
import { createLog } from '../src/process/log.ts';
import { memory, processorSeconds } from './feed/processor-time.ts';
import { type FedService, serverClock, startFedService, TOKEN } from './feed/service.ts';
import { type Clocks, measureAll } from './load/lanes.ts';

const CLIENTS = 100;
const LINES = 20_000;
const CALLS = 1_000;
const LEAST_RATIO = 5;

interface Course {
  name: string;
  client: object;
  actions: string[];
}

/** The actions on payments of clients without approvals, and of clients with four eyes. */
const COURSES: Course[] = [
  { name: 'P', client: {}, actions: ['validate', 'send', 'complete', 'start_return', 'return'] },
  {
    name: 'A',
    client: { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' },
    actions: ['authorise', 'cancel'],
  },
];

export async function run(args: string[]): Promise<void> {
  const [lines, calls, callers] = [Number(args[0] ?? LINES), Number(args[1] ?? CALLS), Number(args[2] ?? 1)];
  const folder = await mkdtemp(join(tmpdir(), 'lombard-bench-actions-'));
  const log = createLog('warn', false);
  const database = await startEmbedded({ dataDir: folder, log });
  const db = new pg.Client({ connectionString: database.socketUrl });
  let service: FedService | undefined;
  try {
    await migrate(database.socketUrl, log);
    await db.connect();
    service = await startFedService(database.socketUrl, join(folder, 'data'));
    const { pid } = service;
    const caller = {
      service,
      callers,
      clocks: { program: () => processorSeconds(pid), server: await serverClock(db) },
    };
    print(`${lines} lines in a file, ${calls} single calls of ${callers} at once`);
    print(
      '| action | single calls /s | p50, p99 ms | program, PostgreSQL ms | lines of a file /s | ratio | peak memory MB |',
    );
    print('|---|---|---|---|---|---|---|');
    for (const course of COURSES) await measureCourse(caller, course, lines, calls);
  } finally {
    await service?.stop();
    await db.end().catch(() => {});
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** How single calls are made, and what shows their cost. */
interface Caller {
  service: FedService;
  callers: number;
  clocks: Clocks;
}

async function measureCourse(caller: Caller, course: Course, lines: number, calls: number): Promise<void> {
  const { service } = caller;
  await fill(service, course, lines + calls);
  const created = await callEach(caller, calls, (index) => [
    '/payments',
    { ...payment(course, index), payment_id: undefined },
  ]);
  print(`| created${course.actions.includes('authorise') ? ', needs an approval' : ''} | ${created.text} | | | |`);
  const paymentOf = (index: number) => `${course.name}-${index}`;
  for (const action of course.actions) {
    const who = (index: number) => (action === 'authorise' ? { contact_id: `${course.name}B${index % CLIENTS}` } : {});
    const single = await callEach(caller, calls, (index) => [
      `/payments/${paymentOf(index)}/actions`,
      { action, ...who(index) },
    ]);
    const began = performance.now();
    await load(service, 'payment-actions', lines, (index) => {
      const place = calls + index;
      return { payment_id: paymentOf(place), action, ...who(place) };
    });
    const bulk = (1_000 * lines) / (performance.now() - began);
    print(
      `| ${action} | ${single.text} | ${bulk.toFixed(0)} | ` +
        `${(bulk / single.rate).toFixed(1)} (at least ${LEAST_RATIO}) | ${memory(service.pid).peak} |`,
    );
  }
}

/** Creates clients with a creator, an approver, a trade and a beneficiary each, and payments of all of them in turn. */
async function fill(service: FedService, course: Course, payments: number): Promise<void> {
  const { name, client } = course;
  const of = (letter: string, index: number) => `${name}${letter}${index % CLIENTS}`;
  await load(service, 'clients', CLIENTS, (n) => ({ client_id: of('C', n), client_name: `Client ${n}`, ...client }));
  for (const letter of ['A', 'B'])
    await load(service, 'contacts', CLIENTS, (n) => ({
      contact_id: of(letter, n),
      name: `Contact ${n}`,
      email: `${of(letter, n)}@example.com`,
      clients: [{ client_id: of('C', n) }],
    }));
  await load(service, 'beneficiaries', CLIENTS, (n) => ({
    ...{
      client_id: of('C', n),
      beneficiary_id: of('D', n),
      beneficiary_name: `Payee ${n}`,
      account_number: '12345678',
    },
  }));
  await load(service, 'trades', CLIENTS, (n) => ({
    ...{
      client_id: of('C', n),
      contact_id: of('A', n),
      trade_id: of('T', n),
      buy_currency: 'EUR',
      sell_currency: 'GBP',
    },
    ...{ buy_amount: 1_170, rate: 1.17 },
  }));
  await load(service, 'payments', payments, (n) => payment(course, n));
}

/** A payment of one of the clients. */
function payment({ name }: Course, n: number) {
  const of = (letter: string) => `${name}${letter}${n % CLIENTS}`;
  return {
    ...{ client_id: of('C'), contact_id: of('A'), trade_id: of('T'), beneficiary_id: of('D') },
    ...{ payment_id: `${name}-${n}`, amount: 100, payment_currency: 'EUR' },
    ...{ payment_date: '2026-12-01', reference: `Invoice ${n}` },
  };
}

async function load(service: FedService, kind: string, count: number, line: (index: number) => object): Promise<void> {
  const chunks = function* () {
    for (let index = 0; index < count; index += 1) yield Buffer.from(`${JSON.stringify(line(index))}\n`);
  };
  const answer = (await callOperator(
    { url: service.operator, token: TOKEN },
    {
      method: 'POST',
      path: `/imports/${kind}`,
      body: Readable.from(chunks(), { objectMode: false }),
      headers: { 'content-type': 'application/x-ndjson' },
    },
  )) as ImportAnswer;
  if (answer.accepted !== count) throw new Error(`${kind}: ${JSON.stringify(answer).slice(0, 500)}`);
}

/** Sends calls, each of the callers one after the other. @returns how many a second, and that with their times and cost as cells of a table */
async function callEach(
  { service, callers, clocks }: Caller,
  count: number,
  what: (index: number) => [path: string, body: object],
): Promise<{ rate: number; text: string }> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  const { rate, p50, p99, program, server } = await measureAll({ count, lanes: callers }, clocks, async (index) => {
    const [path, body] = what(index);
    const status = await send(agent, service.operator + path, JSON.stringify(body));
    if (status >= 300) throw new Error(`${path}: ${status}`);
  });
  agent.destroy();
  const [times, cost] = [[p50, p99].map((each) => each.toFixed(1)), [program, server].map((each) => each.toFixed(2))];
  return { rate, text: `${rate.toFixed(0)} | ${times.join(', ')} | ${cost.join(', ')}` };
}

function send(agent: Agent, url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0)).on('error', reject);
      response.resume();
    });
    outgoing.on('error', reject).end(body);
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

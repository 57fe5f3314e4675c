/**
 * POST /transactions through the whole service, for many accounts and for one. The floor is the minimum of statements that a booking needs,
 * sent by the bare driver in three groups. `npm run bench -- bookings [seconds]`; docs/performance.md has the numbers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { processorSeconds } from './feed/processor-time.ts';
import { type FedService, serverClock, startFedService, TOKEN } from './feed/service.ts';
import { type Measured, measure } from './load/lanes.ts';
import { log } from './payments-data.ts';

const CONNECTIONS = 16;
const AT_ONCE_OF_ONE = 64;
export const ACCOUNTS = 200;
const SECONDS = 6;
const ROUNDS = 3;

export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? SECONDS);
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-bookings-'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  const db = new pg.Client({ connectionString: database.socketUrl });
  let service: FedService | undefined;
  try {
    await migrate(database.socketUrl, log);
    await db.connect();
    service = await startFedService(database.socketUrl, join(folder, 'service'));
    const { operator, pid } = service;
    await fill(operator);
    const server = await serverClock(db);
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE_OF_ONE });
    const book = (account: number) => send(agent, operator, account);
    const clocks = { program: () => processorSeconds(pid), server };
    await measure({ seconds: 2, lanes: CONNECTIONS }, clocks, (n) => book(1 + (n % ACCOUNTS)));
    print('| | a second | p50, p99 ms | program ms each | PostgreSQL ms each | both, against the floor |');
    print('|---|---|---|---|---|---|');
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await measureFloor(database.socketUrl, server, seconds);
      row('floor', floor, floor);
      row('bookings', await measure({ seconds, lanes: CONNECTIONS }, clocks, (n) => book(1 + (n % ACCOUNTS))), floor);
      row('of one account', await measure({ seconds, lanes: AT_ONCE_OF_ONE }, clocks, () => book(1)), floor);
    }
    agent.destroy();
  } finally {
    await service?.stop();
    await db.end().catch(() => {});
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(name: string, { rate, p50, p99, program, server }: Measured, floor: Measured): void {
  const ratio = (program + server) / (floor.program + floor.server);
  print(
    `| ${name} | ${rate.toFixed(0)} | ${p50.toFixed(1)}, ${p99.toFixed(1)} | ${program.toFixed(2)} | ${server.toFixed(2)} | ` +
      `${ratio.toFixed(1)} |`,
  );
}

/** Creates clients with one account each, numbered from 1. */
export async function fill(operator: string): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(operator + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  for (let n = 1; n <= ACCOUNTS; n += 1) {
    await post('/clients', { client_id: `BENCH${n}`, client_name: `Bench ${n}` });
    await post('/currency-accounts', { client_id: `BENCH${n}`, currency: 'EUR' });
  }
}

export function send(agent: Agent, operator: string, account: number): Promise<void> {
  const body = JSON.stringify({
    client_id: `BENCH${account}`,
    currency_account_id: account,
    kind: 'CREDIT_INCOMING_TRANSACTION',
    amount: { amount: '10.50', currency: 'EUR' },
    debtor_name: 'Müller GmbH',
    transaction_reference: 'Invoice 1',
  });
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const outgoing = request(`${operator}/transactions`, { method: 'POST', agent, headers }, (answer) => {
      answer.on('error', reject).on('end', () => {
        if (answer.statusCode === 201) resolve();
        else reject(new Error(`answered ${answer.statusCode}`));
      });
      answer.resume();
    });
    outgoing.on('error', reject).end(body);
  });
}

/** The statements of a booking by the bare driver: opening, the work, and the audit trail with the commit. */
async function measureFloor(url: string, server: () => number, seconds: number): Promise<Measured> {
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: url, pipeline: true });
      await client.connect();
      return client;
    }),
  );
  const program = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  const idle = [...clients];
  try {
    return await measure({ seconds, lanes: CONNECTIONS }, { program, server }, async (n) => {
      const client = idle.pop() as pg.Client;
      await bookBare(client, 1 + (n % ACCOUNTS));
      idle.push(client);
    });
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function bookBare(client: pg.Client, account: number): Promise<void> {
  const ask = (name: string, text: string, values: unknown[]) => client.query({ name, text, values });
  const id = crypto.randomUUID();
  const now = new Date();
  const clientId = `BENCH${account}`;
  const record = JSON.stringify({ transaction_id: id, amount: '10.50', currency: 'EUR', debtor_name: 'Müller GmbH' });
  await Promise.all([
    client.query('begin'),
    ask('token', 'select expires_at, revoked_at from operator_tokens where name = $1', ['bench']),
  ]);
  await ask('lock', 'select * from currency_accounts where client_id = $1 and account_id = $2 for no key update', [
    clientId,
    account,
  ]);
  await Promise.all([
    ask('move', 'update currency_accounts set balance = balance + $3 where client_id = $1 and account_id = $2', [
      clientId,
      account,
      '10.50',
    ]),
    ask(
      'insert',
      `insert into transactions (client_id, currency_account_id, transaction_id, kind, amount, currency, balance_after, booking_datetime,
         value_datetime, created_at) values ($1, $2, $3, 'CREDIT_INCOMING_TRANSACTION', 10.50, 'EUR', 10.50, $4, $4, $4)`,
      [clientId, account, id, now],
    ),
    ask(
      'audit',
      `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
         values ($1, 'operator:bench', 'floor', 'create', 'transaction', $2, $4, $3::json)`,
      [now, id, record, clientId],
    ),
    ask(
      'event',
      `with event as (insert into webhook_events (client_id, type, body, created_at)
         values ($3, 'CREDIT_INCOMING_TRANSACTION', $1, $2) returning id, client_id, type, created_at)
       insert into webhook_outbox (event_id, client_id, type, created_at) select id, client_id, type::webhook_type, created_at from event`,
      [record, now, clientId],
    ),
    ask(
      'version',
      `insert into change_versions as v (entity, entity_id, version) values ('currency_account', $1, 2)
         on conflict (entity, entity_id) do update set version = v.version + 1 returning version`,
      [String(account)],
    ),
    ask(
      'change',
      `with taken as (insert into changes_unpublished (changes, at) values (2, $1) returning batch),
         tallied as (insert into change_tallies (at, client_id, tally, currency, count, sum)
           values ($1, $3, 'transaction', 'EUR', 1, 10.50))
       insert into changes (batch, place, changes, client_ids, entities, body)
         select batch, 0, 2, array[$3], '{transaction,currency_account}', $2 from taken`,
      [now, `${record}\n${record}`, clientId],
    ),
    client.query('commit'),
  ]);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

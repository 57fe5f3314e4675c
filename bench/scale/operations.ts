/** The cost of one operation of each kind, with few and with many clients, and for a client with many payments. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { transaction } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { type Relocation, relocateClient } from '../../src/relocation/relocation.ts';
import { sha256 } from '../../src/values/crypto.ts';
import { notify } from '../../src/webhooks/notification.ts';
import { onServer, workersOf } from '../../test/world/cluster.ts';
import { createClusterDatabase } from '../../test/world/database.ts';
import { type FedService, startFedService } from '../feed/service.ts';
import { BIG, benchDatabase, fill, log, type Population } from '../payments-data.ts';
import { get, lanes, post } from './calls.ts';
import { allServersClock, BenchCells } from './cells.ts';
import { type Cost, Meter } from './meter.ts';
import { importClients, importLines, importParties, type Party, partyOf, paymentOf } from './people.ts';
import { MASTER_KEY, startReceiver } from './receiver.ts';

/** The number of operations of each kind, and of lines in the import. */
const CALLS = Number(process.env.LOMBARD_BENCH_CALLS ?? 500);
const LINES = 10 * CALLS;
/** The most creations, approvals and deliveries per second in each cell of a cluster; without it there is no limit. */
const PER_CELL = Number(process.env.LOMBARD_BENCH_PER_CELL ?? Number.POSITIVE_INFINITY);
/** The longer the calls take, the larger the effect of an error in the idle load that is subtracted. */
const PACED_IDLE_MS = 40_000;
/** The most clients to query and write to, spread over all of them. */
const MAX_SAMPLE = 200;
/** A payment's body has about this many characters. */
const PADDING = 'x'.repeat(1_500);

/** On a cluster a service adds cells when it starts. This prevents cells beyond those of the bench. */
const NO_MORE_CELLS = { LOMBARD_CELLS: '1' };

export const HEADING = `Processor time in microseconds, service + PostgreSQL:
| clients | search page | creation | approval | delivery | imported line |
|---|---|---|---|---|---|`;

/** Measures a new database with this many similar clients. */
export async function measureClients(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-scale-'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  try {
    await migrate(database.url, log);
    const parties = Array.from({ length: count }, (_, n) => partyOf(`C${n}`));
    const prepare = async (service: FedService) => {
      await importClients(service, parties);
      await importParties(service, parties);
    };
    return `| ${count} | ${await measureAll(database.url, sample(parties), prepare)} |`;
  } finally {
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** This many clients in cells on the workers of the cluster in LOMBARD_TEST_DATABASE_URL; undefined if that names no cluster. */
export async function measureCluster(count: number, cells: number): Promise<string | undefined> {
  const database = await createClusterDatabase();
  if (!database) return undefined;
  try {
    await migrate(database.url, log, { cells, trialCells: true });
    const parties = Array.from({ length: count }, (_, n) => partyOf(`C${n}`));
    const prepare = async (service: FedService) => {
      // The clients of one import go to one cell, and those of the next import to another one.
      const share = Math.ceil(count / cells);
      for (let from = 0; from < count; from += share) await importClients(service, parties.slice(from, from + share));
      await importParties(service, parties);
    };
    const perSecond = Number.isFinite(PER_CELL) ? PER_CELL * cells : undefined;
    const asked = perSecond === undefined ? sample(parties) : inTurnOfCells(parties, cells);
    return `| ${count} in ${cells} cells of Citus | ${await measureAll(database.url, asked, prepare, perSecond)} |`;
  } finally {
    await database.drop();
  }
}

/** Measures the client with the most payments of a population, then one of the small clients. */
export async function measureLarge(population: Population, name: string): Promise<string[]> {
  const database = await benchDatabase(population);
  try {
    return await measureBoth(database.url, `${name} payments`);
  } finally {
    await database.stop();
  }
}

/** The clients of a population that are measured, and their target cells. */
const MEASURED = [
  [BIG, 1, 'the one with'],
  ['CLI4711', 2, 'a small one beside'],
] as const;
const CELLS_OF_LARGE = 8;

/**
 * The same on the coordinator of a cluster, and again when both clients have been moved to cells on its workers; undefined without a
 * cluster.
 */
export async function measureMoved(population: Population, name: string): Promise<string[] | undefined> {
  const database = await createClusterDatabase();
  if (!database) return undefined;
  try {
    await migrate(database.url, log, { cells: 1 });
    await fill(database.url, population);
    const before = await measureBoth(database.url, `${name} payments, on the coordinator`);
    await migrate(database.url, log, { cells: CELLS_OF_LARGE });
    const moves: string[] = [];
    for (const [clientId, to, what] of MEASURED) {
      const began = performance.now();
      await move(database.url, { clientId, from: 0, to });
      moves.push(`The move of ${what} ${name} payments took ${((performance.now() - began) / 1_000).toFixed(0)} s.`);
    }
    // Cleaning up after the moves is not part of the measurement.
    for (const server of [database.url, ...(await workersOf(database.url))])
      await onServer(server, (client) => client.query('vacuum (analyze)'));
    return [...before, ...(await measureBoth(database.url, `${name} payments, in a cell`)), ...moves];
  } finally {
    await database.drop();
  }
}

async function measureBoth(url: string, name: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [client, , what] of MEASURED) {
    const party = partyOf(client, `SCALE-${client}`);
    await needApprovals(url, client);
    lines.push(`| ${what} ${name} | ${await measureAll(url, [party], (service) => importParties(service, [party]))} |`);
  }
  return lines;
}

async function move(url: string, relocation: Relocation): Promise<void> {
  const cells = await BenchCells.read(url);
  const pool = cells.pool(3);
  try {
    await relocateClient(pool, { now: new Date(), actor: 'bench', requestId: 'bench' }, relocation);
  } finally {
    await pool.end();
  }
}

/** New payments of the client need one approval; existing ones stay as they are. */
async function needApprovals(url: string, client: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  await db.query('set session_replication_role = replica');
  await db.query(
    `update clients set payment_approvals_enabled = true, authorisation_workflow = '4-eyes' where client_id = $1`,
    [client],
  );
  await db.end();
}

function sample(parties: Party[]): Party[] {
  const step = Math.max(1, Math.floor(parties.length / MAX_SAMPLE));
  return parties.filter((_, index) => index % step === 0);
}

/** The same clients, ordered so that each is in another cell than the one before. */
function inTurnOfCells(parties: Party[], cells: number): Party[] {
  const share = Math.ceil(parties.length / cells);
  const rounds = Array.from({ length: share }, (_, place) => parties.filter((_each, index) => index % share === place));
  return rounds.flat();
}

async function measureAll(
  url: string,
  parties: Party[],
  prepare: (service: FedService) => Promise<void>,
  perSecond?: number,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-scale-service-'));
  const environment = {
    LOMBARD_MASTER_KEY: MASTER_KEY.toString('base64'),
    LOMBARD_API_RATE: '0',
    LOMBARD_ROLES: 'operator,worker',
    ...NO_MORE_CELLS,
  };
  const service = await startFedService(url, join(folder, 'service'), environment);
  let api: ChildProcess | undefined;
  let db: pg.Client | undefined;
  try {
    await prepare(service);
    const cells = await BenchCells.read(url);
    db = await cells.connect();
    await cells.analyze(db);
    const pages = await startApi(url, join(folder, 'api'));
    api = pages.child;
    const idleMs = perSecond === undefined ? undefined : PACED_IDLE_MS;
    const meter = await Meter.create(db, [service.pid, api.pid as number], await allServersClock(db, url), idleMs);
    const work = new Operations({ cells, db, service, parties, perSecond });
    const costs = await work.measure(meter, { pid: api.pid as number, url: pages.url });
    return costs
      .map(({ service: own, database }) => `${Math.max(0, own).toFixed(0)} + ${Math.max(0, database).toFixed(0)}`)
      .join(' | ');
  } finally {
    if (api?.connected) {
      api.send('stop');
      await once(api, 'exit');
    }
    await service.stop();
    await db?.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The client API as in production: a sandbox also keeps what each integrator sends. */
async function startApi(url: string, folder: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(new URL('../service-child.ts', import.meta.url), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      LOMBARD_DATA_DIR: folder,
      LOMBARD_MASTER_KEY: MASTER_KEY.toString('base64'),
      LOMBARD_ROLES: 'api',
      LOMBARD_API_PORT: '0',
      LOMBARD_HEALTH_PORT: '0',
      LOMBARD_API_RATE: '0',
      LOMBARD_LOG_LEVEL: 'warn',
      ...NO_MORE_CELLS,
    },
  });
  const [{ api }] = (await once(child, 'message')) as [{ api: string }];
  return { child, url: api };
}

interface Asked {
  cells: BenchCells;
  db: pg.Client;
  service: FedService;
  parties: Party[];
  perSecond: number | undefined;
}

class Operations {
  readonly #cells: BenchCells;
  readonly #db: pg.Client;
  readonly #service: FedService;
  readonly #parties: Party[];
  readonly #perSecond: number | undefined;
  readonly #run = `S${Date.now().toString(36)}`;

  constructor({ cells, db, service, parties, perSecond }: Asked) {
    this.#cells = cells;
    this.#db = db;
    this.#service = service;
    this.#parties = parties;
    this.#perSecond = perSecond;
  }

  async measure(meter: Meter, api: { pid: number; url: string }): Promise<Cost[]> {
    const { pid } = this.#service;
    const imported = Array.from({ length: LINES }, (_, n) =>
      paymentOf(this.#party(n), { payment_id: `${this.#run}-${n}` }),
    );
    const line = await meter.measure(pid, LINES, () => importLines(this.#service, 'payments', imported));
    const tokens: string[] = [];
    for (const party of this.#parties) tokens.push(await this.#token(party));
    const search = async (n: number) => {
      const { client } = this.#party(n);
      await get(`${api.url}/payments?client_id=${client}`, tokens[n % tokens.length] as string);
    };
    await lanes(CALLS, search);
    const page = await meter.measure(api.pid, CALLS, () => lanes(CALLS, search));
    const { operator } = this.#service;
    const creation = await meter.measure(pid, CALLS, () =>
      this.#lanes((n) => post(`${operator}/payments`, paymentOf(this.#party(n)))),
    );
    const approval = await meter.measure(pid, CALLS, () =>
      this.#lanes((n) =>
        post(`${operator}/payments/${this.#run}-${n}/actions`, {
          action: 'authorise',
          contact_id: this.#party(n).approver,
        }),
      ),
    );
    return [page, creation, approval, await this.#deliveries(meter), line];
  }

  #lanes(operation: (n: number) => Promise<unknown>): Promise<void> {
    return lanes(CALLS, operation, this.#perSecond);
  }

  #party(n: number): Party {
    return this.#parties[n % this.#parties.length] as Party;
  }

  async #token({ approver }: Party): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    await this.#db.query(`insert into applications (client_id, name, redirect_uris, refresh_token_days, created_at)
      values ('scale', 'Bench', '{}', 28, now()) on conflict do nothing`);
    await this.#db.query(
      `with g as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
         values ('scale', $1, false, '{pwd}', now(), now()) returning id)
       insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
       select $2, id, 'scale', $1, now(), now() + interval '1 day' from g`,
      [approver, sha256(token)],
    );
    return token;
  }

  /** Events of clients with one subscription each, timed from the event to the receiver's answer in the history. */
  async #deliveries(meter: Meter): Promise<Cost> {
    const stop = await startReceiver(this.#cells, this.#parties);
    const pool = this.#cells.pool(4);
    const write = (n: number) => {
      const { client: clientId } = this.#party(n);
      const event = { clientId, type: 'PAYMENT_STATUS_CHANGE', body: JSON.stringify({ n, pad: PADDING }) } as const;
      const now = new Date();
      return this.#cells.inCellOf(clientId, () => transaction(pool, (tx) => notify(tx, { ...event, now })));
    };
    try {
      return await meter.measure(this.#service.pid, CALLS, () => this.#lanes(write));
    } finally {
      await pool.end();
      await stop();
    }
  }
}

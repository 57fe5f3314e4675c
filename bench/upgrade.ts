/**
 * The program of a former commit and this one side by side on one database, under load, while the database is migrated. No request may be
 * refused, and p99 may at most double. `npm run bench -- upgrade [commit] [requests of a phase]`; docs/performance.md has the numbers.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate } from '../src/database/migrate.ts';
import { type Migration, readMigrations } from '../src/database/schema.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/process/log.ts';
import { sha256 } from '../src/values/crypto.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const REHEARSAL = new URL('../test/upgrades/rehearsal.sql', import.meta.url);
const TOKEN = 'operator-token-of-the-bench';
const PAYMENTS = 100_000;
const CALLERS = 4;
const PHASE_MS = 10_000;
/** A p99 of fewer requests says little. A phase is repeated until it has this many, or takes too long on a busy machine. */
const MIN_PHASE_REQUESTS = 5_000;
const MAX_PHASE_MS = 150_000;
/** Answers that arrive shortly after a program has ended still count for it. */
const SETTLE_MS = 500;
const READY_INTERVAL_MS = 100;
const FIRST_MS = Date.parse('2025-01-02T09:00:00Z');
const INTERVAL_MS = 400_000;

const log = createLog('warn', false);

export async function run(args: string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lombard-bench-upgrade-'));
  // The database runs as another user if this process is root.
  execFileSync('chmod', ['711', folder]);
  const former = await checkOut(args[0] ?? 'HEAD~1', join(folder, 'former'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  const programs: Program[] = [];
  try {
    execFileSync(join(former, 'bin/lombard'), ['migrate'], { env: environment(database.url, folder) });
    const start = async (root: string) => {
      const program = await startProgram(root, environment(database.url, folder));
      programs.push(program);
      return program;
    };
    const before = await start(former);
    const load = new Load(before, await fill(before), Number(args[1] ?? MIN_PHASE_REQUESTS));
    await load.phase('the former program alone', () => pause(PHASE_MS));
    const migrations = await readMigrations();
    await load.phase('while the database is migrated', async () => {
      migrations.push(await rehearsal(migrations.length));
      await migrate(database.url, log, { migrations });
    });
    await load.phase('the former program on the new schema', () => pause(PHASE_MS));
    const next = await start(REPOSITORY);
    load.programs = [before, next];
    await load.phase('both programs', () => pause(PHASE_MS));
    let ending = before;
    const end = async () => {
      load.programs = [next];
      await ending.stop();
      await pause(SETTLE_MS);
    };
    await load.phase('a former program ends', end, async (round) => {
      if (round > 0) ending = await start(former);
      load.programs = [ending, next];
    });
    await load.phase('this program alone', () => pause(PHASE_MS));
    await load.stop();
    report(load);
  } finally {
    for (const program of programs) await program.stop();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function report({ refused, requests, worst }: Load): void {
  const examples = refused.length > 0 ? `: ${refused.slice(0, 3).join('; ')}` : '';
  print(`${refused.length} of ${requests} requests were refused${examples} (at most 0)`);
  print(`p99 was at most ${worst.toFixed(2)} times the first one (at most 2)`);
}

/** The tree of a commit, with the dependencies of this checkout. */
async function checkOut(commit: string, folder: string): Promise<string> {
  await mkdir(folder);
  const archive = execFileSync('git', ['archive', commit], { cwd: REPOSITORY, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function environment(url: string, folder: string): Record<string, string> {
  const ports = Object.fromEntries(
    ['API', 'AUTH', 'TRUSTED', 'OPERATOR', 'HEALTH'].map((name) => [`LOMBARD_${name}_PORT`, '0']),
  );
  return {
    ...ports,
    PATH: process.env.PATH ?? '',
    HOME: folder,
    DATABASE_URL: url,
    LOMBARD_DATA_DIR: join(folder, 'service'),
    LOMBARD_OPERATOR_TOKEN: TOKEN,
    LOMBARD_MIGRATE: 'no',
    LOMBARD_ROLES: 'operator,worker',
  };
}

interface Program {
  operator: string;
  stop(): Promise<void>;
}

async function startProgram(root: string, env: Record<string, string>): Promise<Program> {
  const child: ChildProcess = spawn(join(root, 'bin/lombard'), ['serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  const ended = once(child, 'exit');
  for (;;) {
    const [, operator] = /"operator":"([^"]+)".*"msg":"ready"/.exec(said) ?? [];
    if (operator) {
      const stop = async () => {
        child.kill('SIGTERM');
        await ended;
      };
      return { operator, stop };
    }
    if (child.exitCode !== null) throw new Error(`the program of ${root} ended: ${said}`);
    await pause(READY_INTERVAL_MS);
  }
}

type Body = Record<string, unknown>;

async function ask({ operator }: Program, method: string, path: string, body?: Body | string): Promise<Response> {
  const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json';
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body === undefined ? {} : { 'content-type': type }) };
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return fetch(`${operator}${path}`, { method, headers, ...(text === undefined ? {} : { body: text }) });
}

/** Creates a client with 100,000 payments. @returns what a payment needs */
async function fill(program: Program): Promise<Body> {
  const create = async (path: string, body: Body) => (await (await ask(program, 'POST', path, body)).json()) as Body;
  const { client_id } = await create('/clients', { client_name: 'Bench' });
  const { contact_id } = await create('/contacts', {
    name: 'Bench',
    email: 'bench@example.com',
    clients: [{ client_id }],
  });
  const { beneficiary_id } = await create('/beneficiaries', {
    client_id,
    beneficiary_name: 'B',
    iban: 'DE89370400440532013000',
  });
  const trade = { client_id, contact_id, buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1_000, rate: 1.17 };
  const { trade_id } = await create('/trades', trade);
  const base = {
    client_id,
    contact_id,
    beneficiary_id,
    trade_id,
    amount: 10,
    payment_currency: 'EUR',
    payment_date: '2030-01-02',
  };
  const lines = Array.from({ length: PAYMENTS }, (_, n) =>
    JSON.stringify({
      ...base,
      status: 'Payment complete',
      created_date: new Date(FIRST_MS + n * INTERVAL_MS).toISOString(),
    }),
  );
  const imported = (await (await ask(program, 'POST', '/imports/payments', lines.join('\n'))).json()) as Body;
  if (imported.accepted !== PAYMENTS) throw new Error(JSON.stringify(imported).slice(0, 500));
  return base;
}

/** A rehearsal migration with its own names, so that it can be applied repeatedly. */
async function rehearsal(count: number): Promise<Migration> {
  const number = 9_000 + count;
  const sql = (await readFile(REHEARSAL, 'utf8')).replaceAll('rehearsal', `rehearsal_${number}`);
  return { number, name: `${number}_rehearsal.sql`, sql, sha256: sha256(sql).toString('hex'), oldestProgram: 1 };
}

/** Callers that create, move and search payments, one call after another. */
class Load {
  programs: Program[];
  readonly refused: string[] = [];
  requests = 0;
  /** The highest p99 of a phase, as a multiple of the first phase's. */
  worst = 0;
  /** The request times of the current phase. */
  #times: number[] = [];
  #p99 = 0;
  readonly #enough: number;
  #running = true;
  readonly #callers: Promise<void>[];

  /** @param enough the number of requests that a phase needs */
  constructor(program: Program, base: Body, enough: number) {
    this.programs = [program];
    this.#enough = enough;
    this.#callers = Array.from({ length: CALLERS }, () => this.#call(base));
    print('| | requests | p50 ms | p99 ms | p99 to the first |\n|---|---|---|---|---|');
  }

  /**
   * Prints how requests went during some work, and repeats it until there are enough requests.
   * @param prepare runs before each repetition, and does not count
   */
  async phase(
    name: string,
    work: () => Promise<unknown>,
    prepare: (round: number) => Promise<void> = async () => {},
  ): Promise<void> {
    const kept: number[] = [];
    const began = performance.now();
    for (let round = 0; kept.length < this.#enough && performance.now() - began < MAX_PHASE_MS; round += 1) {
      await prepare(round);
      this.#times = kept;
      await work();
      this.#times = [];
    }
    const times = kept.toSorted((a, b) => a - b);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
    this.#p99 ||= at(0.99);
    const ratio = at(0.99) / this.#p99;
    this.worst = Math.max(this.worst, ratio);
    print(`| ${name} | ${times.length} | ${at(0.5).toFixed(1)} | ${at(0.99).toFixed(1)} | ${ratio.toFixed(2)} |`);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#callers);
  }

  async #call(base: Body): Promise<void> {
    for (let count = 0; this.#running; count += 1) {
      const made = (await this.#timed(count, 'POST', '/payments', base)) as Body | undefined;
      await this.#timed(count, 'POST', `/payments/${made?.payment_id}/actions`, { action: 'validate' });
      for (const query of ['status=pending', 'page_size=50', 'order=asc'])
        await this.#timed(count, 'GET', `/payments?client_id=${base.client_id}&${query}`);
    }
  }

  async #timed(count: number, method: string, path: string, body?: Body): Promise<unknown> {
    const began = performance.now();
    try {
      const answer = await ask(this.programs[count % this.programs.length] as Program, method, path, body);
      const text = await answer.text();
      this.#times.push(performance.now() - began);
      this.requests += 1;
      if (!answer.ok) this.refused.push(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text);
    } catch (error) {
      this.refused.push(`${method} ${path}: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

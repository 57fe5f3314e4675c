import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import type { Seeded } from '../../src/sandbox/demonstration/seeded.ts';
import { type Command, lombard, REPOSITORY } from '../world/command.ts';
import { log } from '../world/database.ts';
import { removeWithTests } from '../world/leftovers.ts';
import { OpenIdProvider } from '../world/openid-provider.ts';
import { hasPooler, type Pooler, startPooler } from '../world/pooler.ts';
import { freePort } from '../world/ports.ts';
import { call } from '../world/service.ts';
import { until } from '../world/until.ts';
import { Databases } from './databases.ts';
import type { Link } from './link.ts';
import { makeRelease } from './releases.ts';

/** The person of the institution who signs in to the console. */
export const CHIEF = { sub: 'chief', name: 'Chief of the faults', groups: ['chiefs'] };
export const OPERATOR_TOKEN = 'operator-token-of-the-faults';
/** Links in records are made from it: every process has the same. */
const API_URL = 'http://api.example.com';
const OPERATOR_URL = 'http://operator.example.com';
/** For the first start of all processes together. */
const START_SECONDS = 180;
/** Characters of what a process said, where it ended. */
const MAX_SAID_LENGTH = 2_000;

/** The processes: first those that answer requests, then as many workers. */
const WHOLE: [name: string, roles: string][] = [
  ['front', 'api,auth,operator'],
  ['front behind PgBouncer', 'api,auth,operator'],
  ['worker', 'worker'],
  ['second worker', 'worker'],
];
/** What a quick test can afford. */
const SMALL = [WHOLE[1], WHOLE[2]] as typeof WHOLE;
/** Cells beside the first one, each a schema. A quick test has none. */
const CELLS = { small: 0, large: 2 };
/** How often somebody interrupts `lombard migrate`, and after how long. */
const INTERRUPTED = 0.5;
const MAX_MIGRATING_MS = 4_000;

type Ports = Record<'api' | 'auth' | 'operator' | 'health', number>;

/** One process of the service, at addresses that it keeps when it is started again. */
export class ServiceProcess {
  readonly name: string;
  readonly links: readonly Link[];
  readonly api: string;
  readonly auth: string;
  readonly operator: string;
  readonly health: string;
  /** Ends that nobody asked for, each in words. */
  readonly deaths: string[];
  readonly #program: string;
  readonly #environment: Record<string, string>;
  #command: Command | undefined;
  #mayEnd = false;

  constructor(
    name: string,
    links: readonly Link[],
    ports: Ports,
    environment: Record<string, string>,
    { program = REPOSITORY, deaths = [] }: { program?: string; deaths?: string[] } = {},
  ) {
    this.name = name;
    this.links = links;
    this.deaths = deaths;
    this.#program = program;
    const address = (port: number) => `http://127.0.0.1:${port}`;
    this.api = address(ports.api);
    this.auth = address(ports.auth);
    this.operator = address(ports.operator);
    this.health = address(ports.health);
    this.#environment = {
      ...environment,
      LOMBARD_API_PORT: String(ports.api),
      LOMBARD_AUTH_PORT: String(ports.auth),
      LOMBARD_OPERATOR_PORT: String(ports.operator),
      LOMBARD_HEALTH_PORT: String(ports.health),
    };
  }

  start(): void {
    const command = lombard(['serve'], this.#environment, 'ignore', {}, this.#program);
    this.#command = command;
    this.#mayEnd = false;
    void command.ended.then(({ code, signal, stdout, stderr }) => {
      // Asked to end, it ends in order; killed, it does not.
      if (this.#mayEnd && (code === 0 || signal === 'SIGKILL')) return;
      const asked = this.#mayEnd ? 'when it was asked to' : 'by itself';
      this.deaths.push(
        `${this.name} ended with ${code ?? signal} ${asked}: ${`${stdout}${stderr}`.slice(-MAX_SAID_LENGTH)}`,
      );
    });
  }

  /** Starts it unless it runs, and waits until it is ready. */
  async ready(seconds: number): Promise<void> {
    await until(
      async () => {
        if (!this.#command || this.#command.child.exitCode !== null || this.#command.child.signalCode !== null)
          this.start();
        const { status } = await call(`${this.health}/health/ready`, 'GET').catch(() => ({ status: 0 }));
        return status === 200;
      },
      { seconds },
    ).catch(() => {
      throw new Error(`${this.name} is not ready within ${seconds} s: ${this.said().slice(-MAX_SAID_LENGTH)}`);
    });
  }

  /** One of another program that is to take its place, at addresses of its own. */
  async successor(program: string): Promise<ServiceProcess> {
    const { name, links, deaths } = this;
    return new ServiceProcess(name, links, await freePorts(), this.#environment, { program, deaths });
  }

  signal(name: NodeJS.Signals): void {
    this.#command?.child.kill(name);
  }

  async end(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#mayEnd = true;
    this.signal(name);
    await this.#command?.ended;
  }

  /** What it has said so far, as far as it is a warning or worse. */
  said(): string {
    return this.#command?.output() ?? '';
  }
}

async function freePorts(): Promise<Ports> {
  return { api: await freePort(), auth: await freePort(), operator: await freePort(), health: await freePort() };
}

/** What is around the processes. */
interface Surroundings {
  databases: Databases;
  pooler: Pooler | undefined;
  provider: OpenIdProvider;
}

/**
 * The service as an institution runs it: two processes that answer requests, one of them through PgBouncer, two workers, two databases,
 * several cells.
 */
export class System {
  readonly databases: Databases;
  readonly pooler: Pooler | undefined;
  readonly fronts: ServiceProcess[];
  readonly workers: ServiceProcess[];
  /** Where the staff signs in. */
  readonly provider: OpenIdProvider;
  /** The schemas in which clients live, by their numbers. */
  readonly cells: readonly string[];
  /** How many times it was upgraded. */
  releases = 0;
  readonly #folder: string;
  readonly #pool: pg.Pool;

  private constructor(
    { databases, pooler, provider, folder, cells }: Surroundings & { folder: string; cells: number },
    processes: ServiceProcess[],
  ) {
    this.databases = databases;
    this.pooler = pooler;
    this.provider = provider;
    this.#folder = folder;
    this.cells = Array.from({ length: cells + 1 }, (_, n) => (n === 0 ? 'public' : `public_cell_${n}`));
    this.fronts = processes.slice(0, processes.length / 2);
    this.workers = processes.slice(processes.length / 2);
    // It looks at all cells at once.
    const options = '-c search_path=public_cells,public';
    this.#pool = new pg.Pool({ connectionString: databases.writerUrl, max: 2, options });
    this.#pool.on('error', () => {});
  }

  static async start({ small = false }: { small?: boolean | undefined } = {}): Promise<System> {
    const databases = await Databases.start(small ? 'small' : 'large');
    const cells = CELLS[small ? 'small' : 'large'];
    await migrate(databases.primary.url, log, { cells, trialCells: true });
    const pooler = hasPooler() ? await startPooler(databases.writerUrl, 'transaction') : undefined;
    const provider = await new OpenIdProvider().start();
    provider.person = CHIEF;
    const folder = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-faults-')));
    const processes: ServiceProcess[] = [];
    for (const [name, roles] of small ? SMALL : WHOLE) {
      const { url, links } = await databases.path();
      const addresses: Record<string, string> =
        pooler && name.includes('PgBouncer')
          ? { DATABASE_URL: pooler.url, LOMBARD_SESSION_DATABASE_URL: url }
          : { DATABASE_URL: url };
      const environment = { ...common(folder), ...provider.settings, LOMBARD_ROLES: roles, ...addresses };
      processes.push(new ServiceProcess(name, links, await freePorts(), environment));
    }
    const system = new System({ databases, pooler, provider, folder, cells }, processes);
    try {
      await Promise.all(processes.map((process) => process.ready(START_SECONDS)));
    } catch (error) {
      await system.stop();
      throw error;
    }
    return system;
  }

  get processes(): ServiceProcess[] {
    return [...this.fronts, ...this.workers];
  }

  /** The command line, as somebody of the institution runs it. */
  command(args: string[], program?: string): Command {
    return lombard(args, { ...common(this.#folder), DATABASE_URL: this.databases.writerUrl }, 'ignore', {}, program);
  }

  /** A later program migrates the database, also after interruptions. Then its processes take the places of the former ones (docs/upgrading.md). */
  async upgrade(random: Seeded): Promise<void> {
    this.releases += 1;
    const program = makeRelease(this.#folder, this.releases);
    let said = '';
    await until(
      async () => {
        const migrating = this.command(['migrate'], program);
        const interrupted =
          random.next() < INTERRUPTED &&
          setTimeout(() => migrating.child.kill('SIGKILL'), random.whole(0, MAX_MIGRATING_MS));
        const { code, stderr } = await migrating.ended;
        if (interrupted) clearTimeout(interrupted);
        said = stderr;
        return code === 0;
      },
      { what: 'lombard migrate', seconds: START_SECONDS, seen: () => said },
    );
    for (const list of [this.fronts, this.workers])
      for (const [n, former] of list.entries()) {
        const next = await former.successor(program);
        await next.ready(START_SECONDS);
        list[n] = next;
        await former.end('SIGTERM');
      }
  }

  async query(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    return this.#pool.query(text, values);
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.end('SIGKILL')));
    await this.#pool.end();
    await this.pooler?.stop();
    await this.databases.stop();
    await this.provider.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function common(folder: string): Record<string, string> {
  return {
    HOME: folder,
    LOMBARD_DATA_DIR: folder,
    LOMBARD_OPERATOR_TOKEN: OPERATOR_TOKEN,
    LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOMBARD_API_URL: API_URL,
    LOMBARD_OPERATOR_URL: OPERATOR_URL,
    LOMBARD_TRUSTED_PORT: '0',
    LOMBARD_API_RATE: '0',
    LOMBARD_AUTH_RATE: '0',
    LOMBARD_POOL: '4',
    LOMBARD_AUTH_POOL: '2',
    LOMBARD_BACKGROUND_POOL: '4',
    LOMBARD_MIGRATE: 'no',
    LOMBARD_LOG_LEVEL: 'warn',
    LOMBARD_WEBHOOK_RETRIES: '200ms,500ms,1s,1s,2s,2s,5s,5s,10s,10s',
    LOMBARD_WEBHOOK_TIMEOUT: '5s',
  };
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, lombard, PORTS, printed } from './command.ts';
import { createDatabase } from './database.ts';

/** A sandbox with the demonstration, running in its own process, and the command line for it. */
export interface Sandbox {
  dataDir: string;
  databaseUrl: string;
  /** The environment of commands: the sandbox's data directory, and a separate configuration directory. */
  environment: Record<string, string>;
  addresses: { api: string; auth: string; operator: string };
  /** What the service has printed since its last start. */
  output(): string;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Like `run`, with the standard output parsed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of an answer
  json(...args: string[]): Promise<any>;
  /** Starts a command that keeps running. */
  start(...args: string[]): Command;
  /** A call to the operator interface. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  operator(method: string, path: string, body?: object): Promise<any>;
  /** Sends NDJSON to POST /imports/... */
  importLines(path: string, lines: string[]): Promise<void>;
  /** Stops the service, with SIGTERM or another signal, and starts it again on the same data; on the same addresses unless `moved`. */
  restart(signal?: NodeJS.Signals, moved?: 'moved'): Promise<void>;
  /** The service answers nothing until `resume`, as if it hung. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** @param settings LOMBARD_... variables; rate limits are off unless given */
export async function startSandbox(settings: Record<string, string> = {}): Promise<Sandbox> {
  const database = await createDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'lombard-sandbox-'));
  const dataDir = join(folder, 'data');
  const environment = { LOMBARD_DATA_DIR: dataDir, XDG_CONFIG_HOME: join(folder, 'config'), HOME: folder };
  const rates = { LOMBARD_API_RATE: '0', LOMBARD_AUTH_RATE: '0' };
  const own = { ...PORTS, ...rates, ...settings, ...environment, DATABASE_URL: database.url };
  const processes: Command[] = [];
  const start = async (ports: Record<string, string>) => {
    const started = lombard(['demo'], { ...own, ...ports });
    processes.push(started);
    await printed(started, /Lombard is ready/).catch((error) => {
      started.child.kill('SIGKILL');
      throw error;
    });
    return started;
  };
  let service = await start({});
  const readAddresses = () => JSON.parse(readFileSync(join(dataDir, 'addresses.json'), 'utf8'));
  const addresses = readAddresses();
  const port = (name: string) => new URL(addresses[name]).port;
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    service.child.kill(signal);
    await service.ended;
  };
  return {
    dataDir,
    databaseUrl: database.url,
    environment,
    addresses,
    output: () => service.output(),
    run: (...args) => lombard(args, environment).ended,
    json: async (...args) => {
      const { code, stdout, stderr } = await lombard([...args, '--json'], environment).ended;
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    start: (...args) => lombard(args, environment),
    operator: async (method, path, body) => {
      const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
      const answer = await fetch(`${addresses.operator}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return answer.status === 204 ? undefined : answer.json();
    },
    importLines: async (path, lines) => {
      const token = readFileSync(join(dataDir, 'operator-token'), 'utf8').trim();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
      const body = `${lines.join('\n')}\n`;
      const answer = await fetch(`${addresses.operator}/imports/${path}`, { method: 'POST', headers, body });
      const { rejected } = (await answer.json()) as { rejected?: number };
      if (!answer.ok || rejected !== 0)
        throw new Error(`the import was answered ${answer.status}, ${rejected} rejected`);
    },
    restart: async (signal, moved) => {
      await end(signal);
      const same = {
        LOMBARD_API_PORT: port('api'),
        LOMBARD_AUTH_PORT: port('auth'),
        LOMBARD_OPERATOR_PORT: port('operator'),
      };
      service = await start(moved ? {} : same);
      Object.assign(addresses, readAddresses());
    },
    pause: () => void service.child.kill('SIGSTOP'),
    resume: () => void service.child.kill('SIGCONT'),
    stop: async () => {
      await end();
      // A start that failed, or that a test did not wait for, would keep the test from ending.
      for (const { child } of processes) child.kill('SIGKILL');
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

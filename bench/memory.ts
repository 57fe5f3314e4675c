/**
 * Memory of the service's processes and their PostgreSQL under load: with one process, and with one per role. Proportional set size. `npm
 * run bench -- memory [seconds of load] [another checkout]`, with the checkouts in turn.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { createLog } from '../src/process/log.ts';
import { DEMO_CLIENTS, DEMO_CONTACTS } from '../src/sandbox/demonstration/institution.ts';
import { memoryOf, type Started, startProgram, stopProgram } from './footprint/program.ts';
import { createToken } from './service.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const LOAD_SECONDS = 15;
const CALLERS = 8;
const OPERATOR_TOKEN = 'operator-token-of-the-bench';
const ALL = 'api,auth,operator,worker';
const ARRANGEMENTS: Record<string, string[]> = { 'one process': [ALL], 'four processes': ALL.split(',') };

export async function run([seconds, other]: string[]): Promise<void> {
  print('| checkout | | requests | processes MiB | PostgreSQL MiB | together |\n|---|---|---|---|---|---|');
  for (const checkout of other === undefined ? [REPOSITORY] : [REPOSITORY, other])
    for (const [name, roles] of Object.entries(ARRANGEMENTS)) {
      const found = await measure(checkout, roles, Number(seconds ?? LOAD_SECONDS));
      const together = found.processes.reduce((sum, size) => sum + size, found.database);
      const each = found.processes.map((size) => size.toFixed(0)).join(' + ');
      print(
        `| ${checkout} | ${name} | ${found.requests} | ${each} | ${found.database.toFixed(0)} | ${together.toFixed(0)} |`,
      );
    }
}

async function measure(checkout: string, roles: string[], seconds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-memory-'));
  const programs: Started[] = [];
  const start = async (words: string[], more: Record<string, string>) => {
    const program = await startProgram(checkout, [join(checkout, 'bin/lombard'), ...words], {
      LOMBARD_DATA_DIR: folder,
      LOMBARD_API_RATE: '0',
      LOMBARD_AUTH_RATE: '0',
      LOMBARD_OPERATOR_TOKEN: OPERATOR_TOKEN,
      ...more,
    });
    programs.push(program);
    return program;
  };
  await stopProgram(await start(['demo'], {}));
  programs.pop();
  const database = await startEmbedded({ dataDir: folder, log: createLog('warn', false) });
  try {
    for (const each of roles) await start(['serve'], { LOMBARD_ROLES: each, DATABASE_URL: database.url });
    const contact = DEMO_CONTACTS[0]?.contact_id ?? '';
    const token = await createToken(database.url, contact);
    const address = (which: string) => programs[roles.findIndex((each) => each.includes(which))]?.addresses[which];
    const requests = await load(
      [
        [`${address('api')}/payments?client_id=${DEMO_CLIENTS[0]?.client_id}`, token],
        [`${address('operator')}/clients`, OPERATOR_TOKEN],
        [`${address('auth')}/.well-known/openid-configuration`, ''],
      ],
      seconds,
    );
    const processes = programs.map(({ child }) => memoryOf(child.pid as number));
    return { requests, processes, database: memoryOf(process.pid) - memoryOf(process.pid, false) - sum(processes) };
  } finally {
    await Promise.all(programs.map(stopProgram));
    await database.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Callers that send one request after another, to each address in turn. @returns how many answers came */
async function load(calls: [url: string, token: string][], seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let answers = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = caller; performance.now() < end; n += 1) {
        const [url, token] = calls[n % calls.length] as [string, string];
        const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
        await answer.arrayBuffer();
        if (answer.status >= 400) throw new Error(`${url} answered ${answer.status}`);
        answers += 1;
      }
    }),
  );
  return answers;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

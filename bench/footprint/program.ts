/** Starts the program as people do, and measures its processes. Linux only: it reads /proc. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of processor time per tick of /proc. */
const TICK_MS = 10;
const KIBIBYTES = 1_024;

export interface Started {
  child: ChildProcess;
  /** Seconds until its first line, and until it was ready. */
  firstLine: number;
  ready: number;
  /** Seconds of processor time of its process up to then. */
  cpu: number;
  addresses: Record<string, string>;
}

/** Free ports for every listener. */
const PORTS = Object.fromEntries(
  ['API', 'AUTH', 'TRUSTED', 'OPERATOR', 'HEALTH', 'SAMPLE'].map((name) => [`LOMBARD_${name}_PORT`, '0']),
);

/**
 * Starts a program, and waits until it is ready.
 * @param command with its arguments
 * @throws Error if it ends first
 */
export async function startProgram(
  checkout: string,
  [program = '', ...args]: string[],
  environment: Record<string, string>,
): Promise<Started> {
  const began = performance.now();
  const since = () => (performance.now() - began) / 1_000;
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...PORTS, ...environment };
  const child = spawn(program, args, { cwd: checkout, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let [printed, firstLine] = ['', 0];
  const line = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}: ${printed}`)));
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      // npm's own lines begin with >.
      if (firstLine === 0 && /^[^>\s]/m.test(printed)) firstLine = since();
      const found = /^.*"msg":"ready".*$/m.exec(printed);
      if (found) resolve(found[0]);
    });
  });
  const { pid, ...addresses } = JSON.parse(line);
  return { child, firstLine, ready: since(), cpu: cpuOf(pid), addresses };
}

export async function stopProgram({ child }: Started): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Seconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * TICK_MS) / 1_000;
}

/** MiB of a process; with `below`, including all its descendants. Shared pages are divided among their users (PSS). */
export function memoryOf(root: number, below = true): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name)) {
      const parent = readOf(`/proc/${name}/stat`)?.split(') ').at(-1)?.split(' ')[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }
  const isBelow = (pid: number): boolean => pid === root || (below && pid > 1 && isBelow(parents.get(pid) ?? 0));
  const sizes = [...parents.keys()].filter(isBelow).map((pid) => {
    const rollup = readOf(`/proc/${pid}/smaps_rollup`) ?? '';
    return Number(/^Pss: +(\d+)/m.exec(rollup)?.[1] ?? 0);
  });
  return sizes.reduce((sum, size) => sum + size, 0) / KIBIBYTES;
}

/** Undefined if the process has ended. */
function readOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithTests } from './leftovers.ts';
import { until } from './until.ts';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

/** Free ports for every listener. */
export const PORTS = {
  LOMBARD_API_PORT: '0',
  LOMBARD_AUTH_PORT: '0',
  LOMBARD_TRUSTED_PORT: '0',
  LOMBARD_OPERATOR_PORT: '0',
  LOMBARD_HEALTH_PORT: '0',
};

/** The most seconds that a program may take to start on a busy machine. */
export const MAX_START_SECONDS = 120;

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** The environment that a program under test inherits: the location of Node, and what it has compiled (test/run.ts). */
export function inherited(): Record<string, string | undefined> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE };
}

/** A run of the command line in its own process. */
export interface Command {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** What it has written to standard output so far. */
  output: () => string;
}

/**
 * Starts the command line with only the given environment.
 * @param input `pipe`: the test writes to its standard input
 * @param as the user that it runs as, if it is a different one
 * @param program the folder of the program, if it is a different one
 */
export function lombard(
  args: string[],
  environment: Record<string, string>,
  input: 'ignore' | 'pipe' = 'ignore',
  as: { uid: number; gid: number } | Record<string, never> = {},
  program = REPOSITORY,
): Command {
  const env = { ...inherited(), ...environment };
  const options = { ...as, env, stdio: [input, 'pipe', 'pipe'] } satisfies SpawnOptions;
  const child = endWithTests(spawn(join(program, 'bin/lombard'), args, options));
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }));
  return { child, ended, output: () => stdout };
}

/** Waits until a process has printed something. If it ends first, the error shows its output. */
export async function printed(started: Pick<Command, 'ended' | 'output'>, pattern: RegExp): Promise<RegExpExecArray> {
  let end: Ended | undefined;
  void started.ended.then((ended) => {
    end = ended;
  });
  return until(
    () => {
      const found = pattern.exec(started.output());
      if (!found && end) throw new Error(`it ended with ${end.code}: ${end.stderr}${end.stdout}`);
      return found;
    },
    { what: `${pattern} printed`, seconds: MAX_START_SECONDS, seen: started.output },
  );
}

/** The CommonJS modules that a process loads when it imports one of our modules. @param path from the repository's root */
export function modulesOf(path: string): string[] {
  const script = `await import(${JSON.stringify(join(REPOSITORY, path))});
    console.log(JSON.stringify(Object.keys(process.getBuiltinModule('module')._cache ?? {})))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return JSON.parse(stdout);
}

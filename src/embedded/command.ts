import { spawn } from 'node:child_process';

/** The operating-system account as which PostgreSQL runs. `spawn` is empty if it is this process's own. */
export interface ServerAccount {
  uid: number;
  gid: number;
  spawn: { uid: number; gid: number } | Record<string, never>;
}

/** The environment of every program that is started here. It does not inherit the service's own, with its secrets and PGDATA. */
export const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

export interface RunOptions {
  account: ServerAccount;
  cwd: string;
  /** For the standard input. */
  input?: string;
}

/** Runs a program to its end. Never throws. */
export function run(
  file: string,
  args: string[],
  { account, cwd, input = '' }: RunOptions,
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    // It has its own process group. Ctrl-C in the terminal is for the service, which then ends its programs in order.
    const child = spawn(file, args, { cwd, env: ENVIRONMENT, detached: true, ...account.spawn });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ ok: false, output: String(error) }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
    child.stdin.on('error', () => undefined); // it ended without reading; its exit code says why
    child.stdin.end(input);
  });
}

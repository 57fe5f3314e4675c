import { spawn } from 'node:child_process';

/** The operating-system account PostgreSQL runs as. `spawn` is empty where it is this process's own. */
export interface Account {
  uid: number;
  gid: number;
  spawn: { uid: number; gid: number } | Record<string, never>;
}

/** Environment of everything started here: nothing of the service's own (its secrets, PGDATA) is inherited. */
export const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

/** Runs a program to its end as the account, with `input` on its standard input; never throws. */
export function run(
  file: string,
  args: string[],
  account: Account,
  cwd: string,
  input = '',
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    // A process group of its own: Ctrl-C in the terminal is for the service, which then ends these in order.
    const child = spawn(file, args, { cwd, env: ENVIRONMENT, detached: true, ...account.spawn });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ ok: false, output: String(error) }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
    child.stdin.on('error', () => undefined); // it ended without reading; its exit code tells
    child.stdin.end(input);
  });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { ENVIRONMENT, type ServerAccount } from './command.ts';

/** Milliseconds after which a watchdog that was killed is replaced. */
const REPLACE_AFTER_MS = 500;

/**
 * Reads the server's id, then waits on the pipe. If the pipe ends without a word, the service was killed. Then the script tries a fast
 * shutdown, an immediate one after five seconds, and kills the server after seven. It is a shell script, which needs little memory.
 */
const SCRIPT = `
read -r pid || exit 0
read -r word && exit 0
kill -INT "$pid" 2>/dev/null
i=0
while kill -0 "$pid" 2>/dev/null && [ "$i" -lt 80 ]; do
  i=$((i + 1))
  [ "$i" = 50 ] && kill -QUIT "$pid" 2>/dev/null
  [ "$i" = 70 ] && kill -KILL "$pid" 2>/dev/null
  sleep 0.1
done
`;

/** Ends a server when this process is killed. */
export interface Watchdog {
  watch(pid: number): void;
  release(): void;
}

/** Starts a watchdog. Start it before the server, so that the server always has one. */
export function startWatchdog(account: ServerAccount): Watchdog {
  let watched: number | undefined;
  let released = false;
  let child: ChildProcess;
  const start = () => {
    child = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      env: ENVIRONMENT,
      detached: true, // a signal to the service's process group is not for the watchdog
      stdio: ['pipe', 'ignore', 'ignore'],
      ...account.spawn,
    });
    child.stdin?.on('error', () => undefined); // it was killed; its exit starts another one
    if (watched !== undefined) child.stdin?.write(`${watched}\n`);
    const replace = () => {
      if (!released) setTimeout(() => released || start(), REPLACE_AFTER_MS).unref();
    };
    child.on('exit', replace).on('error', replace);
  };
  start();
  return {
    watch(pid) {
      watched = pid;
      child.stdin?.write(`${pid}\n`);
    },
    release() {
      released = true;
      child.stdin?.end(watched === undefined ? undefined : 'released\n');
    },
  };
}

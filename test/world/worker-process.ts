import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endWithTests } from './leftovers.ts';

/** Starts a program of the tests in its own process; it is ready once it has sent its first message. @param path below test/ */
export async function startProcess(path: string, args: string[]): Promise<ChildProcess> {
  const program = fileURLToPath(new URL(path, import.meta.url));
  const child = endWithTests(fork(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`${path} ended by itself: ${code}`)));
  });
  return child;
}

/** Kills a process with SIGKILL; does nothing if it has ended. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Lets everything else on the machine go before the thread that calls. On Linux a single thread can be told to: by its niceness, and better by
 * the idle class, which leaves its core at once where a nice thread still runs its slice of some 3 ms to the end, and gets next to nothing of
 * a machine that is busy all the time. Threads that it starts inherit both. Elsewhere it runs as all do.
 * @param niceness 1 to 19; what holds where there is no idle class
 */
export function giveWay(niceness: number, idleClass: boolean): void {
  try {
    const thread = basename(readlinkSync('/proc/thread-self'));
    setPriority(Number(thread), niceness);
    if (idleClass) execFileSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' });
  } catch {
    // No /proc, no chrt, or no permission: the work is as right as before, only less polite.
  }
}

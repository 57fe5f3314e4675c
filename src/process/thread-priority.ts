import { execFileSync } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Lowers the priority of the calling thread below everything else on the machine. Linux can do this for a single thread, by niceness or by
 * the idle class. A thread of the idle class leaves its core at once, while a nice thread first finishes its time slice of about 3 ms. On a
 * machine that is always busy the idle class gets almost no time. Threads that it starts inherit both. On other systems the call does
 * nothing.
 * @param niceness 1 to 19; used if the idle class is not available
 */
export function giveWay(niceness: number, idleClass: boolean): void {
  try {
    const thread = basename(readlinkSync('/proc/thread-self'));
    setPriority(Number(thread), niceness);
    if (idleClass) execFileSync('chrt', ['--idle', '--pid', '0', thread], { stdio: 'ignore' });
  } catch {
    // No /proc, no chrt, or no permission: the thread works at its normal priority.
  }
}

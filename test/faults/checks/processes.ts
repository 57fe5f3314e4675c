import assert from 'node:assert/strict';
import type { Round } from './round.ts';

/** The run starts a process again that is gone, as systemd does. One that nobody killed is found here. */
export async function nobodyDied({ system, known }: Round): Promise<void> {
  const deaths = system.processes.flatMap((process) => process.deaths.splice(0));
  assert.deepEqual([...deaths, ...known.failures.splice(0)], []);
}

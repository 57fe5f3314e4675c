import assert from 'node:assert/strict';
import type { Round } from './round.ts';

/** Each consumer of the feed stands where it was last answered to be, and one that was deleted is gone. */
export async function consumersStand({ system, known }: Round): Promise<void> {
  const { rows } = await system.query('select name, position from change_consumers');
  const positions = new Map<string, number>(rows.map(({ name, position }) => [name, Number(position)]));
  const faults: string[] = [];
  for (const [name, possible] of known.consumers) {
    // A cursor begins with its position.
    const wanted = possible.map((cursor) => (cursor === null ? undefined : Number.parseInt(cursor, 10)));
    if (!wanted.includes(positions.get(name)))
      faults.push(`${name} stands at ${positions.get(name)} instead of ${wanted.join(' or ')}`);
  }
  assert.deepEqual(faults, []);
}

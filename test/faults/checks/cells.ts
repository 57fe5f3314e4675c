import assert from 'node:assert/strict';
import { MOVED_TABLES } from '../../../src/database/cells/tables.ts';
import { rowsOf } from '../../../src/relocation/relocation.ts';
import type { Round } from './round.ts';

/** Requests that are refused during the move are recorded where it was. */
const LEFT_TABLES = ['sandbox_requests'];

/** Each client lives where it was moved to, with all its records, and each move was done once. */
export async function clientsLiveInOneCell({ system, known }: Round): Promise<void> {
  const { rows: trail } = await system.query(
    `select entity_id as "clientId", (after->>'from_cell')::int as from, (after->>'to_cell')::int as to
     from audit where entity = 'client' and after->>'action' = 'move' order by at`,
  );
  const faults: string[] = [];
  for (const { clientId } of [...known.lasting, known.playground]) {
    const own = (moves: { clientId: string; from: number; to: number }[]) =>
      moves.filter((each) => each.clientId === clientId).map(({ from, to }) => `${from} to ${to}`);
    const [asked, done] = [own(known.moves).join(), own(trail).join()];
    if (asked !== done) faults.push(`${clientId} was to move from ${asked || 'nowhere'}, and moved from ${done}`);
    const { rows: homes } = await system.query('select cell, moves_to from clients where client_id = $1', [clientId]);
    const last = known.moves.findLast((each) => each.clientId === clientId);
    if (homes[0].moves_to !== null || (last && homes[0].cell !== last.to))
      faults.push(`${clientId} is in ${homes[0].cell} and moves to ${homes[0].moves_to}`);
    for (const [n, schema] of system.cells.entries()) {
      if (n === homes[0].cell) continue;
      const counts = MOVED_TABLES.filter((table) => !LEFT_TABLES.includes(table)).map(
        (table) => `select '${table}' as table from ${schema}.${table} where ${rowsOf(table, `${schema}.`)}`,
      );
      const { rows } = await system.query(`select distinct * from (${counts.join(' union all ')}) t`, [clientId]);
      for (const { table } of rows) faults.push(`${clientId} has left rows of ${table} in ${schema}`);
    }
  }
  assert.deepEqual(faults, []);
}

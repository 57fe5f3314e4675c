import { type Home, holdClients } from '../database/cells/client-moves.ts';
import { withinCell } from '../database/cells/connection.ts';
import { homesOfClients, homesOfRecords } from '../database/cells/directory.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import { endStep, type Transaction } from '../database/database.ts';
import { KINDS } from '../database/kinds.ts';
import type { ImportKind, ImportRow } from './kind.ts';

/** What identifies the client of a line. */
interface Named {
  client_id?: string | undefined;
  payment_id?: string | undefined;
}

/**
 * Does the work for lines, part by part, in the cells of their clients. If the database has one cell, all lines of a part go together.
 * Consecutive work in one cell is one step in the change feed.
 * @param options `ordered`: a refused line ends the import, so lines must keep their order
 */
export async function inCellsOfRows<Row extends ImportRow<unknown>>(
  tx: Transaction,
  parts: Row[][],
  { kind, ordered }: { kind: Pick<ImportKind<never, never>, 'entity'>; ordered: boolean },
  work: (rows: Row[]) => Promise<void>,
): Promise<void> {
  if (!hasSeveralCells(tx) || KINDS[kind.entity].owner === 'nobody') {
    for (const rows of parts) await work(rows);
    return;
  }
  let last: number | undefined;
  const enter = async (cell?: number) => {
    if (last !== undefined && last !== cell) await withinCell(tx, last, () => endStep(tx));
    last = cell;
  };
  for (const rows of parts) {
    const cells = await cellsOf(tx, rows, KINDS[kind.entity].address);
    for (const some of divide(rows, cells, ordered || hasRepetitions(rows))) {
      const cell = cells.get(some[0] as Row) ?? 0;
      await enter(cell);
      await withinCell(tx, cell, () => work(some));
    }
  }
  await enter();
}

/** Whether two lines have the same identifier. Then the earlier one gets it, in whichever cell. */
function hasRepetitions(rows: readonly ImportRow<unknown>[]): boolean {
  const ids = rows.map(({ id }) => id).filter((id) => id !== undefined);
  return new Set(ids).size < ids.length;
}

/** The lines of each cell, in order if that matters. */
function divide<Row>(rows: Row[], cells: ReadonlyMap<Row, number>, ordered: boolean): Row[][] {
  if (!ordered) return [...Map.groupBy(rows, (row) => cells.get(row) ?? 0).values()];
  const parts: Row[][] = [];
  for (const row of rows) {
    const part = parts.at(-1);
    if (part && cells.get(part[0] as Row) === cells.get(row)) part.push(row);
    else parts.push([row]);
  }
  return parts;
}

/**
 * The cells of lines, each of which names a client, a payment, or an existing record. Lines that name nothing known are refused in the
 * first cell. The clients stay in their cells until the transaction ends.
 * @throws ClientMoves
 */
async function cellsOf<Row extends ImportRow<unknown>>(
  tx: Transaction,
  rows: Row[],
  noun = '',
): Promise<Map<Row, number>> {
  const named = (row: Row) => row.input as Named;
  const byClient = await homesOfClients(tx, given(rows.map((row) => named(row).client_id)));
  const others = rows.filter((row) => !byClient.has(named(row).client_id ?? ''));
  const byPayment = await homesOfRecords(tx, 'payments', given(others.map((row) => named(row).payment_id)));
  const byId = await homesOfRecords(tx, noun, given(others.map(({ id }) => id)));
  const homes = new Map<Row, Home>();
  for (const row of rows) {
    const { client_id: clientId = '', payment_id: paymentId = '' } = named(row);
    const home = byClient.get(clientId) ?? byPayment.get(paymentId) ?? byId.get(row.id ?? '');
    if (home) homes.set(row, home);
  }
  await holdClients(tx, new Map([...homes.values()].map(({ clientId, cell }) => [clientId, cell])));
  return new Map(rows.map((row) => [row, homes.get(row)?.cell ?? 0]));
}

function given(ids: (string | undefined)[]): string[] {
  return [...new Set(ids)].filter((id) => id !== undefined);
}

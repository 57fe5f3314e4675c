import { hasSeveralCells, withinCell } from '../cell-pool.ts';
import { endStep, type Transaction } from '../database.ts';
import type { ImportKind, ImportRow } from './kind.ts';

/** What exists once; its records are in no client's cell. */
const ONCE = new Set(['client', 'contact']);

/** What leads a line to its client. */
interface Named {
  client_id?: string | undefined;
  payment_id?: string | undefined;
}

/**
 * Does the work for lines in the cells of their clients. Where the database has one cell, all lines go together.
 * @param options `ordered`: a refused line ends the import, so that no line may come before an earlier one
 */
export async function inCellsOfRows<Row extends ImportRow<unknown>>(
  tx: Transaction,
  rows: Row[],
  { kind, ordered }: { kind: Pick<ImportKind<never, never>, 'entity' | 'comparison'>; ordered: boolean },
  work: (rows: Row[]) => Promise<void>,
): Promise<void> {
  if (!hasSeveralCells(tx) || ONCE.has(kind.entity)) return work(rows);
  const cells = await cellsOf(tx, rows, kind.comparison?.table);
  for (const part of divide(rows, cells, ordered))
    await withinCell(tx, cells.get(part[0] as Row) ?? 0, async () => {
      await work(part);
      await endStep(tx);
    });
}

/** The lines of each cell; in their order where that matters. */
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

/** Lines name a client, a payment, or a record that exists. Those that name nothing known are refused in the first cell. */
async function cellsOf<Row extends ImportRow<unknown>>(
  tx: Transaction,
  rows: Row[],
  table: string | undefined,
): Promise<Map<Row, number>> {
  const named = (row: Row) => row.input as Named;
  const clients = rows.map((row) => named(row).client_id);
  const found = await cellsBy(tx, 'select client_id as id, cell from clients where client_id = any($1)', clients);
  const others = rows.filter((row) => !found.has(named(row).client_id ?? ''));
  const byPayment = await cellsBy(
    tx,
    recordsOf('payments', 'payment_id'),
    others.map((row) => named(row).payment_id),
  );
  const column = table === undefined ? undefined : KEYS[table];
  const byId =
    table === undefined || column === undefined
      ? new Map<string, number>()
      : await cellsBy(
          tx,
          recordsOf(table, column),
          others.map(({ id }) => id),
        );
  return new Map(
    rows.map((row) => {
      const { client_id: clientId = '', payment_id: paymentId = '' } = named(row);
      return [row, found.get(clientId) ?? byPayment.get(paymentId) ?? byId.get(row.id ?? '') ?? 0];
    }),
  );
}

/** The ids of records that a line can change without naming their client. */
const KEYS: Record<string, string> = { payments: 'payment_id', beneficiaries: 'beneficiary_id', trades: 'trade_id' };

function recordsOf(table: string, column: string): string {
  return `select r.${column} as id, c.cell from ${table} r join clients c on c.client_id = r.client_id where r.${column} = any($1)`;
}

async function cellsBy(tx: Transaction, text: string, ids: (string | undefined)[]): Promise<Map<string, number>> {
  const given = [...new Set(ids)].filter((id) => id !== undefined);
  if (given.length === 0) return new Map();
  const { rows } = await withinCell(tx, 'all', () => tx.query<{ id: string; cell: number }>(text, [given]));
  return new Map(rows.map(({ id, cell }) => [id, cell]));
}

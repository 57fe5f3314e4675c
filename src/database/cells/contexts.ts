import { endsWithin } from '../../process/deadline.ts';
import type { Pool } from '../database.ts';
import type { CellResources } from './activity.ts';
import { cellNumbers } from './directory.ts';
import { hasSeveralCells, poolOf } from './pool.ts';
import type { Cell } from './scope.ts';

/** The context whose statements all run in one cell, for background work. The context itself where the database has one cell. */
export function contextOf<Own extends CellResources>(context: Own, cell: Cell): Own {
  const pool = poolOf(context.pool, cell);
  return pool === context.pool ? context : { ...context, pool, backgroundPool: poolOf(context.backgroundPool, cell) };
}

/** The context of each cell; the first one first. */
export async function cellContexts<Own extends CellResources>(context: Own): Promise<Own[]> {
  const cells = hasSeveralCells(context.pool) ? await cellNumbers(context.backgroundPool) : [0];
  return cells.map((cell) => ({ ...contextOf(context, cell), rhythm: context.activity.rhythm(cell) }));
}

/** A pool for each cell; the first one first. */
export async function cellPools(pool: Pool): Promise<Pool[]> {
  if (!hasSeveralCells(pool)) return [pool];
  return (await cellNumbers(pool)).map((cell) => poolOf(pool, cell));
}

/** A cell that did not answer. */
export interface SilentCell {
  /** Its schema. */
  cell: string;
  reason: string;
}

/** Milliseconds for which one round of a task waits for late cells, for all of them together. */
const MAX_LATE_MS = 600;

/** Asks each cell whether it answers. One cell is the database itself, and is not asked. */
export async function askCells(pool: Pool): Promise<{ answering: Pool[]; silent: SilentCell[] }> {
  const silent: SilentCell[] = [];
  if (!hasSeveralCells(pool)) return { answering: [pool], silent };
  const answering: Pool[] = [];
  const { rows } = await pool.query<{ number: number; schema: string }>(
    'select number, schema from cells where made order by number',
  );
  for (const { number, schema: cell } of rows) {
    const own = poolOf(pool, number);
    await own.query('select from subscriptions limit 1').then(
      () => answering.push(own),
      ({ message: reason }: Error) => silent.push({ cell, reason }),
    );
  }
  return { answering, silent };
}

/** Does some work for one cell after the other. One that fails holds up no other. @throws the last failure, at the end */
export async function inEach<Each>(cells: readonly Each[], work: (cell: Each) => Promise<void>): Promise<void> {
  let failure: unknown;
  for (const cell of cells)
    await work(cell).catch((error: unknown) => {
      failure = error;
    });
  if (failure) throw failure;
}

/**
 * `inEach` for a task that comes back again and again. A cell that takes long is left behind: the others get their turn, and it gets none
 * until it has ended its own. With one cell nothing is different from calling the work.
 * @param all the cells of the database
 */
export function createRounds<Each>(all: readonly Each[]): typeof inEach<Each> {
  if (all.length === 1) return inEach;
  const behind = new Set<Each>();
  return (cells, work) => {
    let patienceMs = MAX_LATE_MS;
    return inEach(
      cells.filter((cell) => !behind.has(cell)),
      async (cell) => {
        behind.add(cell);
        const turn = work(cell).finally(() => behind.delete(cell));
        const waits = patienceMs / 2;
        if (await endsWithin(turn, waits)) return;
        // Several cells of a server that gives no answer are late together.
        patienceMs -= waits;
        // Nobody hears how a late turn ends. Where the cell is at fault, the next one fails as well.
        turn.catch(() => {});
      },
    );
  };
}

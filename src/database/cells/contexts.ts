import { endsWithin } from '../../process/deadline.ts';
import type { Pool } from '../database.ts';
import type { CellResources } from './activity.ts';
import { cellNumbers } from './directory.ts';
import { hasSeveralCells, poolOf } from './pool.ts';
import type { Cell } from './scope.ts';

/** A context whose statements all run in one cell, for background work. The context itself if the database has one cell. */
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
  /** The schema of the cell. */
  cell: string;
  reason: string;
}

/** Milliseconds that one round of a task waits for late cells, in total. */
const MAX_LATE_MS = 600;

/** Asks each cell whether it answers. A single cell is the database itself, and is not asked. */
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

/** Does some work for each cell in turn. A failure in one cell does not stop the others. @throws the last failure, at the end */
export async function inEach<Each>(cells: readonly Each[], work: (cell: Each) => Promise<void>): Promise<void> {
  let failure: unknown;
  for (const cell of cells)
    await work(cell).catch((error: unknown) => {
      failure = error;
    });
  if (failure) throw failure;
}

/**
 * Makes an `inEach` for a recurring task that does not wait long for a slow cell. The other cells get their turns. The slow cell gets no
 * new turn until its current one has ended. With one cell this is `inEach` itself.
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
        // If a server gives no answer, several of its cells are late together.
        patienceMs -= waits;
        // Nobody waits for the result of a late turn. If the cell is at fault, its next turn fails as well.
        turn.catch(() => {});
      },
    );
  };
}

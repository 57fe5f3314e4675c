import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Where statements run: the number of a cell; all cells together, for reading only; or none, which is for what belongs to no client. 0 is the
 * first cell, whose schema also has what exists once. What runs in none is refused the tables of clients, rather than shown the first cell's.
 */
export type Cell = number | 'all' | 'none';

/** The cell in which statements run, while a request is served. A request changes it once its client is known. */
export interface CellScope {
  cell: Cell;
  /** The client whose cell it is. */
  clientId?: string | undefined;
}

const SCOPE = new AsyncLocalStorage<CellScope>();

/** Runs a function, and whatever it waits for, in a scope. */
export function inScope<T>(scope: CellScope, work: () => T): T {
  return SCOPE.run(scope, work);
}

/** Runs a function, and whatever it waits for, in a cell. */
export function inCell<T>(cell: Cell, work: () => T): T {
  return SCOPE.run({ cell }, work);
}

/** The cell of what runs now; none where nobody has said. */
export function currentCell(): Cell {
  return SCOPE.getStore()?.cell ?? 'none';
}

/**
 * The numbers that a cell makes begin here, times its own number, so that they are unique over all cells and show the cell that made
 * them. Numbers of the API stay below 2^53, which leaves room for 9,007 cells.
 */
export const NUMBERS_OF_CELL = 10 ** 12;

/** The cell that made a number. */
export function cellOfNumber(number: number): number {
  return Math.floor(number / NUMBERS_OF_CELL);
}

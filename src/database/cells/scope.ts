import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Where statements run: the number of a cell, `all` cells together (read-only), or `none` for what belongs to no client. 0 is the first
 * cell, whose schema also has what exists once. Statements in `none` are refused the tables of clients; otherwise they would read those of
 * the first cell.
 */
export type Cell = number | 'all' | 'none';

/** The cell in which statements run while a request is served. It changes once the request's client is known. */
export interface CellScope {
  cell: Cell;
  /** The client whose cell it is. */
  clientId?: string | undefined;
}

const SCOPE = new AsyncLocalStorage<CellScope>();

/** Runs a function, and whatever it awaits, in a scope. */
export function inScope<T>(scope: CellScope, work: () => T): T {
  return SCOPE.run(scope, work);
}

/** Runs a function, and whatever it awaits, in a cell. */
export function inCell<T>(cell: Cell, work: () => T): T {
  return SCOPE.run({ cell }, work);
}

/** The cell of the current work; `none` if nothing has set it. */
export function currentCell(): Cell {
  return SCOPE.getStore()?.cell ?? 'none';
}

/**
 * The generated numbers of a cell begin at its own number times this. So they are unique over all cells and show which cell made them.
 * Numbers of the API stay below 2^53, which leaves room for 9,007 cells.
 */
export const NUMBERS_OF_CELL = 10 ** 12;

/** The cell that made a number. */
export function cellOfNumber(number: number): number {
  return Math.floor(number / NUMBERS_OF_CELL);
}

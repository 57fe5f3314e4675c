import { AsyncLocalStorage } from 'node:async_hooks';

/** The number of a cell, or all cells together, for reading only. 0 is the first cell, whose schema also has what exists once. */
export type Cell = number | 'all';

/** The cell in which statements run, while a request is served. A request changes it once its client is known. */
export interface CellScope {
  cell: Cell;
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

/** The cell of what runs now. */
export function currentCell(): Cell {
  return SCOPE.getStore()?.cell ?? 0;
}

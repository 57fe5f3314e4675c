import { poolOf } from './cell-pool.ts';
import type { Cell } from './cell-scope.ts';
import type { Context } from './context.ts';

/** The context whose statements all run in one cell, for background work. The context itself where the database has one cell. */
export function contextOf(context: Context, cell: Cell): Context {
  const pool = poolOf(context.pool, cell);
  return pool === context.pool ? context : { ...context, pool, backgroundPool: poolOf(context.backgroundPool, cell) };
}

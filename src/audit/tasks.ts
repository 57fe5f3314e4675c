import type { Context } from '../context.ts';
import { cellsInTurn, restAmong } from '../database/cells/activity.ts';
import { createRounds } from '../database/cells/contexts.ts';
import { Periodic } from '../process/periodic.ts';
import { createAuditKeeper } from './days.ts';
import { makeHead } from './heads.ts';
import { sealInOrder } from './seal.ts';

const INTERVAL_MS = 1_000;

/** Seals what was committed, stores the heads, and maintains the partitions. Cells are sealed one after the other, because they share one chain. */
export function createAuditTasks(context: Context, cells: readonly Context[]): Periodic[] {
  const { vault, log } = context;
  const keepers = new Map(cells.map((cell) => [cell, createAuditKeeper(cell)]));
  const rounds = createRounds(cells.map(({ backgroundPool }) => backgroundPool));
  const daily = createRounds(cells);
  const sealing = new Periodic({
    name: 'audit seal',
    intervalMs: INTERVAL_MS,
    log,
    run: async () => {
      try {
        const pools = cellsInTurn(cells, sealInOrder, restAmong(cells.length)).map(
          ({ backgroundPool }) => backgroundPool,
        );
        await sealInOrder(pools, vault, rounds);
      } finally {
        await makeHead(context);
      }
    },
  });
  const keeping = new Periodic({
    name: 'audit days',
    intervalMs: INTERVAL_MS,
    log,
    run: () => daily(cells, async (cell) => keepers.get(cell)?.keep()),
  });
  return [sealing, keeping];
}

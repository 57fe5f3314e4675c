import type { Context } from '../context.ts';
import { Periodic } from '../periodic.ts';
import { createAuditKeeper } from './days.ts';
import { makeHead } from './heads.ts';
import { sealAll } from './seal.ts';

const INTERVAL_MS = 1_000;

/** Seals what was committed, stores the heads, and keeps the partitions. */
export function createAuditTasks(context: Context): Periodic[] {
  const { backgroundPool, vault, log } = context;
  const days = createAuditKeeper(context);
  const sealing = new Periodic({
    name: 'audit seal',
    intervalMs: INTERVAL_MS,
    log,
    run: async () => {
      await sealAll(backgroundPool, vault);
      await makeHead(context);
    },
  });
  const keeping = new Periodic({ name: 'audit days', intervalMs: INTERVAL_MS, log, run: () => days.keep() });
  return [sealing, keeping];
}

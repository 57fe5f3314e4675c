import type { Logger } from '../../process/log.ts';
import { Periodic } from '../../process/periodic.ts';
import { first, type Pool, type Transaction, transaction } from '../database.ts';
import type { ClaimedField } from '../kinds.ts';
import { LOCKS } from '../locks.ts';
import { ClientMoves, holdClients } from './client-moves.ts';
import { withinCell } from './connection.ts';
import { homesOfClients } from './directory.ts';
import { writtenIds } from './identifiers.ts';
import { besideOf, poolOf } from './pool.ts';

const INTERVAL_MS = 600_000;
/** The number of claims that one transaction looks at. Claims of the same moment stay together, so it may be a few more. */
const BATCH_ROWS = 5_000;
/** A claim younger than this may belong to a record that is still being written. No request and no batch of an import takes so long. */
const YOUNG = `now() - interval '1 hour'`;

interface ClaimRow {
  field: ClaimedField;
  id: string;
  client_id: string;
  /** The moment, with all its digits. */
  at: string;
}

/**
 * Removes claims whose record was never written or has been removed, because the process ended in between or the creation failed. This is
 * needed only if claims commit by themselves (identifiers.ts). It looks at each claim once, in the order of their moments; `claims_swept`
 * records the progress. It waits while a cell is down or a client is being moved.
 * @returns the number of removed claims
 */
export async function sweepClaims(pool: Pool): Promise<number> {
  if (!besideOf(pool)) return 0;
  let removed = 0;
  for (;;) {
    const batch = await transaction(poolOf(pool, 0), sweepBatch).catch((error: unknown) => {
      if (error instanceof ClientMoves) return undefined;
      throw error;
    });
    removed += batch?.removed ?? 0;
    if (!batch?.more) return removed;
  }
}

async function sweepBatch(tx: Transaction): Promise<{ removed: number; more: boolean } | undefined> {
  const turn = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [LOCKS.claimSweep]);
  if (!first(turn)?.mine) return undefined;
  const { rows: claims } = await tx.query<ClaimRow>(
    `select field, id, client_id, claimed_at::text as at from claims
     where claimed_at > coalesce((select up_to from claims_swept), '-infinity') and claimed_at < ${YOUNG}
     order by claimed_at fetch first ${BATCH_ROWS} rows with ties`,
  );
  const last = claims.at(-1);
  if (!last) return undefined;
  const orphans = await withoutRecord(tx, claims);
  // If someone has claimed one again meanwhile, that claim stays.
  await tx.query(
    `delete from claims c using unnest($1::text[], $2::text[]) as w (field, id)
     where c.field = w.field::claimed_field and c.id = w.id and c.claimed_at < ${YOUNG}`,
    [orphans.map(({ field }) => field), orphans.map(({ id }) => id)],
  );
  await tx.query(
    'insert into claims_swept (up_to) values ($1) on conflict ("only") do update set up_to = excluded.up_to',
    [last.at],
  );
  return { removed: orphans.length, more: claims.length >= BATCH_ROWS };
}

/** @throws ClientMoves */
async function withoutRecord(tx: Transaction, claims: ClaimRow[]): Promise<ClaimRow[]> {
  const homes = await homesOfClients(tx, [...new Set(claims.map((claim) => claim.client_id))]);
  await holdClients(tx, new Map([...homes.values()].map(({ clientId, cell }) => [clientId, cell])));
  const orphans: ClaimRow[] = [];
  for (const [cell, ofCell] of Map.groupBy(claims, (claim) => homes.get(claim.client_id)?.cell))
    for (const [field, rows] of Map.groupBy(ofCell, (claim) => claim.field)) {
      const ids = rows.map(({ id }) => id);
      const clientIds = [...new Set(rows.map((claim) => claim.client_id))];
      const written =
        cell === undefined
          ? new Set<string>()
          : await withinCell(tx, cell, () => writtenIds(tx, field, { ids, clientIds }));
      orphans.push(...rows.filter(({ id }) => !written.has(id)));
    }
  return orphans;
}

/** Runs the sweep periodically. Any process may sweep; only one does at a time. */
export function createClaimSweep({ backgroundPool, log }: { backgroundPool: Pool; log: Logger }): Periodic {
  return new Periodic({
    name: 'claim sweep',
    intervalMs: INTERVAL_MS,
    log,
    run: async () => {
      const removed = await sweepClaims(backgroundPool);
      if (removed > 0) log.info({ removed }, 'identifiers that no record has were given up');
    },
  });
}

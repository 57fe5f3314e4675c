import { setTimeout as pause } from 'node:timers/promises';
import { Problem } from '../../values/errors.ts';
import { type Db, first } from '../database.ts';
import { LOCKS } from '../locks.ts';

/** Seconds after which a caller should try again. */
const RETRY_AFTER_SECONDS = 2;
/** Milliseconds between two attempts of work that waits until a client has been moved. */
const LOOK_EVERY_MS = 500;

/** The client is being moved to another cell (`lombard cells move-client`). Until it is there, nobody reads or changes its records. */
export class ClientMoves extends Problem {
  constructor() {
    super('interrupted', 'the client is being moved to another cell: try again in a moment', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** The client lives in a cell that this process does not know, because the database had one cell when it started. The process must be restarted. */
export class UnknownCell extends Problem {
  constructor() {
    super('interrupted', 'the client lives in a cell that this process does not know yet: try again in a moment', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** A client's entry in the directory. */
export interface Home {
  clientId: string;
  cell: number;
  /** Whether it is being moved to another cell now. */
  moving: boolean;
}

/** A Home as a row. */
export type HomeRow = Home & Record<string, unknown>;

/** The columns of a Home. @param clients the alias of the table */
export function homeColumns(clients: string): string {
  return `${clients}.client_id as "clientId", ${clients}.cell, ${clients}.moves_to is not null as moving`;
}

/** Where a client lives; undefined if there is no such client. */
export async function homeOfClient(db: Db, clientId: string): Promise<Home | undefined> {
  return first(await db.query<HomeRow>(`select ${homeColumns('c')} from clients c where c.client_id = $1`, [clientId]));
}

/**
 * Keeps clients in their cells until the transaction ends; a move waits for it. If there are several cells, every transaction that changes
 * a client's records begins with it. A move is announced some seconds before it begins, so nobody waits for a move here.
 * @param cells the cell in which the transaction expects each client to live
 * @throws ClientMoves
 */
export async function holdClients(tx: Db, cells: ReadonlyMap<string, number>): Promise<void> {
  if (cells.size === 0) return;
  const { rows } = await tx.query<{ client_id: string; cell: number }>(
    'select client_id, cell from clients where client_id = any($1) and moves_to is null order by client_id for key share',
    [[...cells.keys()]],
  );
  const held = rows.filter((row) => cells.get(row.client_id) === row.cell);
  if (held.length < cells.size) throw new ClientMoves();
}

/** Lets a client go on if its move ended without saying so. A running move holds a lock, which ends with its connection. */
export async function resumeAbandoned(db: Db, clientId: string): Promise<void> {
  await db.query(
    `update clients set moves_to = null where client_id = any (array(
       select client_id from clients where client_id = $1 and moves_to is not null and pg_try_advisory_xact_lock($2, hashtext($1))
       for no key update skip locked))`,
    [clientId, LOCKS.clientMove],
  );
}

/**
 * Repeats work while it meets a client that is being moved.
 * @param mostMs milliseconds.
 * @throws ClientMoves after that time
 */
export async function afterMoves<T>(mostMs: number, work: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += LOOK_EVERY_MS) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClientMoves) || waited >= mostMs) throw error;
      await pause(LOOK_EVERY_MS);
    }
  }
}

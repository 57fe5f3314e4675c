import { setTimeout as pause } from 'node:timers/promises';
import { takeLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { homeOfClient } from '../database/cells/client-moves.ts';
import { withinCell } from '../database/cells/connection.ts';
import { claimRows } from '../database/cells/identifiers.ts';
import { poolOf, quotedSchema } from '../database/cells/pool.ts';
import { DELTA_TABLES, MOVED_TABLES } from '../database/cells/tables.ts';
import { type Db, first, type Pool, type Transaction, transaction } from '../database/database.ts';
import { idsOf, KIND_NAMES, KINDS } from '../database/kinds.ts';
import { LOCKS } from '../database/locks.ts';
import { publishChanges } from '../feed/publisher.ts';
import { rollUpTotals } from '../payments/search/totals.ts';
import { monotonic } from '../values/calendar.ts';

/**
 * Milliseconds after which every process knows that a client is being moved, and requests that did not know have ended. A session is
 * trusted for a second, and a statement of a request ends within 2.5 s.
 */
const ANNOUNCED_MS = 4_000;
/**
 * Milliseconds to wait for deliveries and statements in progress, which would otherwise be sent a second time from the new cell. It also
 * applies to an erasure of a person, which goes from cell to cell and would miss what moves to a cell behind it.
 */
const MAX_IDLE_WAIT_MS = 30_000;
const LOOK_EVERY_MS = 50;
/** Rows that get new numbers in one statement. */
const RENUMBERED_ROWS = 10_000;
/**
 * Tables whose rows get new numbers, in their order. The numbers show the order of rows, and those of a cell begin at a number of its own.
 * In a cell of lower numbers, what is booked later would otherwise come first.
 */
const RENUMBERED_TABLES: ReadonlySet<string> = new Set(['transactions', 'sandbox_requests']);

/** The destination of a client. */
export interface Relocation {
  clientId: string;
  from: number;
  to: number;
  /** Milliseconds to wait for work in progress, instead of half a minute; for tests. */
  idleWaitMs?: number;
}

/** Why a client cannot be moved now. */
export class RelocationFault extends Error {}

/**
 * Moves a client to another cell: all its records, in one transaction. Its requests get a 503 meanwhile, and imports
 * wait. Its history in audit trail and feed stays in the former cell. If the process is killed, it has done all of it or nothing. A client
 * whose move was only announced goes on at its next request.
 * @param pool with at least three connections, and without a time limit for statements
 * @throws RelocationFault
 */
export async function relocateClient(pool: Pool, act: Act, relocation: Relocation): Promise<void> {
  const { clientId, to } = relocation;
  const holder = await pool.connect();
  try {
    const { rows } = await holder.query<{ mine: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as mine', [
      LOCKS.clientMove,
      clientId,
    ]);
    if (!rows[0]?.mine) throw new RelocationFault(`the client ${clientId} is being moved by another command`);
    await awaitErasure(holder, relocation.idleWaitMs);
    await holder.query('update clients set moves_to = $2 where client_id = $1', [clientId, to]);
    try {
      await pause(ANNOUNCED_MS);
      await transaction(pool, (tx) => relocate(tx, act, relocation, pool));
    } finally {
      await holder.query('update clients set moves_to = null where client_id = $1 and moves_to is not null', [
        clientId,
      ]);
    }
  } finally {
    // Released before this function ends, so that a command that follows at once finds it free. If that fails, the lock ends with the
    // connection.
    await holder.query('select pg_advisory_unlock_all()').catch(() => {});
    holder.release(true);
  }
}

/** Waits until nobody is being erased, and keeps erasures waiting while the session lives. @throws RelocationFault */
async function awaitErasure(session: Db, waitMs = MAX_IDLE_WAIT_MS): Promise<void> {
  const end = monotonic() + waitMs;
  for (;;) {
    const { rows } = await session.query<{ free: boolean }>('select pg_try_advisory_lock($1) as free', [LOCKS.erasure]);
    if (rows[0]?.free) return;
    if (monotonic() > end)
      throw new RelocationFault(`a person has been in erasure for ${waitMs / 1_000} seconds: try again`);
    await pause(LOOK_EVERY_MS);
  }
}

async function relocate(tx: Transaction, act: Act, relocation: Relocation, pool: Pool): Promise<void> {
  const { clientId, from, to, idleWaitMs = MAX_IDLE_WAIT_MS } = relocation;
  // If the command is killed, nothing of it goes on.
  await tx.query("set local client_connection_check_interval = '1s'");
  // Waits for the transactions that hold the client in its cell (client-moves.ts), and for those that create and approve payments.
  await tx.query('select from clients where client_id = $1 for update', [clientId]);
  await takeLock(tx, clientId);
  const home = await homeOfClient(tx, clientId);
  if (home?.cell !== from || !home.moving) throw new RelocationFault(`the client ${clientId} was not kept: try again`);
  await withinCell(tx, from, () => awaitIdle(tx, clientId, idleWaitMs));
  await publishAll(pool, from, act.now);
  await rollUp(poolOf(pool, from), clientId);
  await tx.query('update clients set cell = $2, moves_to = null where client_id = $1', [clientId, to]);
  // The first cell may have records from before there were others.
  if (from === 0)
    await withinCell(tx, from, async () => {
      for (const table of MOVED_TABLES) await claimRows(tx, table, clientId);
    });
  // The totals are copied, so that triggers count nothing row by row, here or on a worker.
  await tx.query("set local citus.propagate_set_commands = 'local'");
  await tx.query("set local lombard.totals_move = 'on'");
  const source = quotedSchema(tx, from);
  const copied = new Map<string, number>();
  await withinCell(tx, to, async () => {
    for (const table of MOVED_TABLES) {
      const way = { source, clientId };
      copied.set(table, await (RENUMBERED_TABLES.has(table) ? renumber(tx, table, way) : copy(tx, table, way)));
    }
  });
  await moveVersions(tx, { clientId, from, to });
  await withinCell(tx, from, async () => {
    if (await isCounted(tx, clientId)) throw new RelocationFault('payments have changed meanwhile: try again');
    for (const table of MOVED_TABLES.toReversed()) {
      const { rowCount } = await tx.query(`delete from ${table} where ${rowsOf(table)}`, [clientId]);
      // Refused requests are recorded even now.
      if (rowCount !== copied.get(table) && table !== 'sandbox_requests')
        throw new RelocationFault(`${table} has changed meanwhile: try again`);
    }
  });
  await withinCell(tx, to, async () =>
    audit(tx, act, {
      action: 'action',
      entity: 'client',
      entityId: clientId,
      clientId,
      after: { action: 'move', from_cell: from, to_cell: to },
    }),
  );
}

/**
 * Waits until nothing of the client is in progress: notifications that a worker has leased, and statements that are being made. Nothing new
 * begins, because this holds the rows.
 * @param waitMs milliseconds that they get
 * @throws RelocationFault
 */
async function awaitIdle(tx: Transaction, clientId: string, waitMs: number): Promise<void> {
  const end = monotonic() + waitMs;
  await tx.query('select from webhook_outbox where client_id = $1 for update', [clientId]);
  for (;;) {
    await tx.query('select from webhook_queue where client_id = $1 and lease_owner is null for update', [clientId]);
    await tx.query(`select from statement_deliveries where client_id = $1 and status <> 'making' for update`, [
      clientId,
    ]);
    const busy = first(
      await tx.query<{ busy: boolean }>(
        `select exists (select from webhook_queue where client_id = $1 and lease_owner is not null)
           or exists (select from statement_deliveries where client_id = $1 and status = 'making') as busy`,
        [clientId],
      ),
    )?.busy;
    if (!busy) return;
    if (monotonic() > end)
      throw new RelocationFault(
        `notifications or statements of the client ${clientId} have been on their way for ${waitMs / 1_000} seconds: try again`,
      );
    await pause(LOOK_EVERY_MS);
  }
}

/** Publishes what was committed in the client's former cell, so that nothing from the new cell precedes it in the feed. */
async function publishAll(pool: Pool, from: number, now: Date): Promise<void> {
  const cell = poolOf(pool, from);
  const { rows } = await cell.query<{ last: number | null }>('select max(batch) as last from changes_unpublished');
  for (;;) {
    const left = await cell.query('select from changes_unpublished where batch <= $1 limit 1', [rows[0]?.last ?? 0]);
    if (left.rows.length === 0) return;
    // A worker that publishes now does the same. One that died may have given places to changes that the cell still has.
    await publishChanges({ cell, order: poolOf(pool, 0) }, now);
    await pause(LOOK_EVERY_MS);
  }
}

/** Adds the client's deltas to its totals. No new deltas arise meanwhile, because nothing of the client is written. */
async function rollUp(pool: Pool, clientId: string): Promise<void> {
  while (await isCounted(pool, clientId)) {
    // A worker that rolls up now does the same.
    await rollUpTotals(pool);
    await pause(LOOK_EVERY_MS);
  }
}

/** Whether some of the client's deltas are not yet in its totals. */
async function isCounted(db: Db, clientId: string): Promise<boolean> {
  const left = DELTA_TABLES.map((name) => `exists (select from ${name} where client_id = $1)`).join(' or ');
  return first(await db.query<{ left: boolean }>(`select ${left} as left`, [clientId]))?.left ?? false;
}

/** A condition for a client's (`$1`) rows of a table. @param schema of the tables, followed by a dot; by default the current one */
export function rowsOf(table: string, schema = ''): string {
  if (table !== 'webhook_endpoints') return 'client_id = $1';
  return `subscription_id in (select id from ${schema}subscriptions where client_id = $1)`;
}

/** Whose rows are copied, and from where. */
interface Way {
  /** The schema of the former cell. */
  source: string;
  clientId: string;
}

async function columnsOf(tx: Transaction, table: string, { source }: Way): Promise<string[]> {
  const { rows } = await tx.query<{ column: string }>(
    `select attname as column from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [`${source}.${table}`],
  );
  return rows.map(({ column }) => column);
}

/** Copies the rows of a client into the current cell. @returns the number of rows */
async function copy(tx: Transaction, table: string, way: Way): Promise<number> {
  const { source, clientId } = way;
  const columns = await columnsOf(tx, table, way);
  const where = rowsOf(table, `${source}.`);
  const copied = await tx.query(
    `insert into ${table} (${columns.join(', ')}) overriding system value
     select ${columns.join(', ')} from ${source}.${table} where ${where}`,
    [clientId],
  );
  return copied.rowCount ?? 0;
}

/**
 * Copies the rows of a client into the current cell, where they get numbers in their order. Statements keep their last transaction.
 * @returns the number of rows
 */
async function renumber(tx: Transaction, table: string, way: Way): Promise<number> {
  const { source, clientId } = way;
  const columns = (await columnsOf(tx, table, way)).filter((column) => column !== 'id');
  let copied = 0;
  for (let after = 0; ; ) {
    const { rows } = await tx.query<{ id: number }>(
      `select id from ${source}.${table} where client_id = $1 and id > $2 order by id limit ${RENUMBERED_ROWS}`,
      [clientId, after],
    );
    const former = rows.map(({ id }) => id);
    const last = former.at(-1);
    if (last === undefined) return copied;
    const given = await tx.query<{ id: number }>(
      `select nextval(pg_get_serial_sequence($1, 'id')) as id from generate_series(1, $2) order by 1`,
      [table, former.length],
    );
    const numbers = [former, given.rows.map(({ id }) => id)];
    const { rowCount } = await tx.query(
      `insert into ${table} (id, ${columns.join(', ')}) overriding system value
       select n.id, ${columns.map((column) => `t.${column}`).join(', ')}
       from ${source}.${table} t join unnest($2::bigint[], $3::bigint[]) as n (former, id) on t.id = n.former where t.client_id = $1`,
      [clientId, ...numbers],
    );
    copied += rowCount ?? 0;
    if (table === 'transactions')
      await tx.query(
        `update statement_sections s set last_transaction = n.id
         from unnest($2::bigint[], $3::bigint[]) as n (former, id) where s.client_id = $1 and s.last_transaction = n.former`,
        [clientId, ...numbers],
      );
    after = last;
  }
}

/**
 * Moves the version counts with the records, which the source still has. The feed counts the versions of each record from 1 without gaps. A
 * count (`change_versions`) does not name the client, and after a reset nothing leads to the counts of removed records.
 */
async function moveVersions(tx: Transaction, { clientId, from, to }: Relocation): Promise<void> {
  const source = quotedSchema(tx, from);
  const target = quotedSchema(tx, to);
  await withinCell(tx, from, async () => {
    for (const kind of KIND_NAMES.filter((each) => KINDS[each].owner !== 'nobody')) {
      const ids = KINDS[kind].id === 'client_id' ? '$1' : idsOf(kind);
      const where = `entity = '${kind}' and entity_id in (${ids})`;
      await tx.query(
        `insert into ${target}.change_versions as v select * from ${source}.change_versions where ${where}
         on conflict (entity, entity_id) do update set version = greatest(v.version, excluded.version)`,
        [clientId],
      );
      await tx.query(`delete from change_versions where ${where}`, [clientId]);
    }
  });
}

import { shareLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import type { Context } from '../context.ts';
import { type Db, first, type Transaction, transaction } from '../database/database.ts';
import { planOnce } from '../database/plan-settings.ts';

/** Orders with many rows are worked on in steps, each in a transaction of its own. */

/** The outcome of a step: another one follows, or the order waits for a person or for a time. */
export type Outcome = 'goes on' | 'waits';

/** A step of an order. */
export interface StepOf<Order> {
  context: Context;
  tx: Transaction;
  /** Acts in the name of the contact who sent the order. */
  act: Act;
  /** The row of the order, which is locked. */
  order: Order;
  /** True while the process answers requests: the step takes fewer rows. Each row costs more, but requests wait less (docs/performance-orders.md). */
  gently: boolean;
}

/** The fields that every order has. */
interface Sent {
  client_id: string;
  created_by: string;
}

/** How one kind of order is worked on. Its SQL is the program's own. */
export interface Engine<Order extends Sent = never> {
  /** The name of the request that makes its changes, for the trail. */
  name: string;
  table: string;
  /** The column that identifies its orders. */
  id: string;
  /** An SQL condition for orders that are not finished. */
  open: string;
  step(step: StepOf<Order>): Promise<Outcome>;
}

/** An order that is not finished. */
export interface OpenOrder {
  id: string;
  clientId: string;
}

/** The unfinished orders of a cell, oldest first. @param look how many to return, and which to leave out */
export async function openOrders(
  { name, table, id, open }: Engine,
  db: Db,
  { most, but }: { most: number; but: readonly string[] },
): Promise<OpenOrder[]> {
  const { rows } = await db.query<OpenOrder & Record<string, unknown>>({
    name: `open ${name}`,
    text: `select ${id} as id, client_id as "clientId" from ${table}
      where (${open}) and ${id} <> all($2::uuid[]) order by created_at limit $1`,
    values: [most, but],
  });
  return rows;
}

/**
 * Takes an order one step further, in a transaction of its own. If the process is killed, it has done all of the step or nothing. An order
 * that another process works on is left alone, and so is one whose client is being moved to another cell.
 */
export async function stepOrder(
  engine: Engine,
  context: Context,
  { id, clientId }: OpenOrder,
  gently: boolean,
): Promise<Outcome> {
  return transaction(context.backgroundPool, async (tx) => {
    planOnce(tx);
    const kept = await tx.query({
      name: 'keep-client',
      text: 'select from clients where client_id = $1 and moves_to is null for key share skip locked',
      values: [clientId],
    });
    if (kept.rowCount === 0) return 'waits';
    // Locked before the order: a reset takes this lock first, and then the orders.
    await shareLock(tx, clientId);
    // Without a name: a prepared `*` fails once a migration has added a column.
    const order = first(
      await tx.query<Sent & Record<string, unknown>>(
        `select * from ${engine.table} where client_id = $1 and ${engine.id} = $2 and (${engine.open}) for no key update skip locked`,
        [clientId, id],
      ),
    );
    if (!order) return 'waits';
    const act = { now: context.clock.now(), actor: `contact:${order.created_by}`, requestId: `${engine.name} ${id}` };
    return engine.step({ context, tx, act, order: order as never, gently });
  });
}

import { shareLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import type { Context } from '../context.ts';
import { type Db, first, type Transaction, transaction } from '../database/database.ts';

/** What clients send many rows of is worked on in steps, each in a transaction of its own. */

/** What became of a step: another one follows, or it waits for somebody or for a moment. */
export type Outcome = 'goes on' | 'waits';

/** A step of an order. */
export interface StepOf<Order> {
  context: Context;
  tx: Transaction;
  /** In the name of the contact who sent it. */
  act: Act;
  /** Its row, which is locked. */
  order: Order;
}

/** What every order has. */
interface Sent {
  client_id: string;
  created_by: string;
}

/** How one kind of order is worked on. SQL is the program's own. */
export interface Engine<Order extends Sent = never> {
  /** What the trail calls the request that makes its changes. */
  name: string;
  table: string;
  /** The column that identifies its orders. */
  id: string;
  /** A condition: something is to be done with an order. */
  open: string;
  step(step: StepOf<Order>): Promise<Outcome>;
}

/** An order that something is to be done with. */
export interface OpenOrder {
  id: string;
  clientId: string;
}

/** The orders of a cell that something is to be done with, the oldest first. @param look how many, and which are left out */
export async function openOrders(
  { table, id, open }: Engine,
  db: Db,
  { most, but }: { most: number; but: readonly string[] },
): Promise<OpenOrder[]> {
  const { rows } = await db.query<OpenOrder & Record<string, unknown>>(
    `select ${id} as id, client_id as "clientId" from ${table} where (${open}) and ${id} <> all($2::uuid[]) order by created_at limit $1`,
    [most, but],
  );
  return rows;
}

/**
 * Takes an order one step further, in a transaction of its own: who is killed in between has done nothing, or all of it. One that another
 * process works on is left alone, and so is one whose client goes to another cell.
 */
export async function stepOrder(engine: Engine, context: Context, { id, clientId }: OpenOrder): Promise<Outcome> {
  return transaction(context.backgroundPool, async (tx) => {
    const kept = await tx.query(
      'select from clients where client_id = $1 and moves_to is null for key share skip locked',
      [clientId],
    );
    if (kept.rowCount === 0) return 'waits';
    // Before the order is locked: a reset takes this lock first, and then the orders.
    await shareLock(tx, clientId);
    const order = first(
      await tx.query<Sent & Record<string, unknown>>(
        `select * from ${engine.table} where client_id = $1 and ${engine.id} = $2 and (${engine.open}) for no key update skip locked`,
        [clientId, id],
      ),
    );
    if (!order) return 'waits';
    const act = { now: context.clock.now(), actor: `contact:${order.created_by}`, requestId: `${engine.name} ${id}` };
    return engine.step({ context, tx, act, order: order as never });
  });
}

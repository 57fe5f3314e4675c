import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { made, RecordKind, type Shown } from '../database/record.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { Exact } from '../values/json.ts';
import { ExactNumber, Moment, Nullable } from '../values/schemas.ts';
import { present } from '../values/unknown.ts';

export const HOLD_STATES = ['open', 'closed'] as const;
export type HoldState = (typeof HOLD_STATES)[number];

const STATE = `case when h.closed_at is null then 'open' else 'closed' end`;

/** A hold in the form that the operator reads. */
export const HOLD = new RecordKind({
  table: 'holds',
  id: 'hold_id',
  fields: {
    hold_id: made(Type.String({ format: 'uuid' }), { example: '4b0f7c1e-9d1c-4c59-8a30-2f1f0a7d9b6e' }),
    currency_account_id: made(Type.Integer(), { example: 1 }),
    payment_id: made(Nullable(Type.String({ description: 'The payment that it is for' })), { example: 'PAY000001' }),
    trade_id: made(Nullable(Type.String({ description: 'The trade that it is for; null for a payment’s' })), {
      example: null,
    }),
    amount: made(ExactNumber('What is held'), { example: 250.5 }),
    currency: made(Type.String({ description: 'Of the account' }), { example: 'EUR' }),
    state: made(Type.Enum([...HOLD_STATES]), { elsewhere: STATE, example: 'open' }),
    opened_at: made(Moment, { example: '2026-07-01T09:15:00.000Z' }),
    closed_at: made(Nullable(Moment), { example: null }),
    closed_by: made(
      Nullable(
        Type.String({
          description: 'A transaction_id, the action of the payment, the status of the trade, or `release`',
        }),
      ),
      { example: null },
    ),
  },
});
export type Hold = Shown<typeof HOLD>;
type HoldRow = Omit<Hold, 'amount'> & { amount: string };

const COLUMNS = HOLD.selectFrom('h');

function shown(row: HoldRow): Hold {
  return { ...row, amount: new Exact(row.amount) };
}

/** A filter for holds. */
interface HoldFilter extends ListRequest {
  accountId?: number | undefined;
  state?: HoldState | undefined;
  /** Only holds that are overdue at this moment. */
  overdueAt?: Date | undefined;
}

/** Hours after which a debit is overdue, counted from when its payment was sent or its trade was closed. */
const OVERDUE_HOURS = 1;

/** A page of holds, in the order of their opening. */
export async function listHolds(db: Db, { accountId, state, overdueAt, ...request }: HoldFilter): Promise<List<Hold>> {
  const filters = [
    ['h.currency_account_id = ?', accountId],
    // Separate conditions, so that the index of open holds serves the first.
    ['h.closed_at is null and ?::text is not null', state === 'open' ? state : undefined],
    ['h.closed_at is not null and ?::text is not null', state === 'closed' ? state : undefined],
    [`h.closed_at is null and h.executed_at < ?::timestamptz - interval '${OVERDUE_HOURS} hour'`, overdueAt],
  ] as const;
  const list = { select: COLUMNS, from: 'holds h', client: 'h.client_id', order: 'h.opened_at, h.id', filters };
  const { rows, total } = await listRows<HoldRow>(db, list, request);
  return { rows: rows.map(shown), total };
}

/**
 * Releases the money of a hold whose debit does not come, for the operator.
 * @throws Problem hold_not_found; transition_not_allowed unless its payment was sent, or its trade is closed
 */
export async function releaseHold(tx: Transaction, act: Act, holdId: string): Promise<Hold> {
  const found = isUuid(holdId) ? await lockHold(tx, holdId) : undefined;
  if (!found) throw new Problem('hold_not_found', { field: 'hold_id', message: 'does not exist' });
  const refuse = (message: string) => new Problem('transition_not_allowed', { field: 'hold_id', message });
  if (found.closed) throw refuse('the hold is closed');
  if (!found.executed) throw refuse('its order may still leave: its payment was not sent, or its trade is not closed');
  const { client_id: clientId } = found;
  const { rows } = await tx.query<HoldRow & Record<string, unknown>>(
    `update holds h set closed_at = $3, closed_by = 'release' where h.client_id = $1 and h.hold_id = $2 returning ${COLUMNS}`,
    [clientId, holdId, act.now],
  );
  const row = present(rows[0]);
  await tx.query('update currency_accounts set held = held - $3 where client_id = $1 and account_id = $2', [
    clientId,
    row.currency_account_id,
    row.amount,
  ]);
  const [entity, table, id] =
    row.payment_id === null
      ? (['trade', 'trades', row.trade_id as string] as const)
      : (['payment', 'payments', row.payment_id] as const);
  await tx.query(`update ${table} set hold_released = true where client_id = $1 and ${entity}_id = $2`, [clientId, id]);
  audit(tx, act, {
    ...{ action: 'update', entity, entityId: id, clientId },
    before: { hold_id: holdId, hold_released: false },
    after: { hold_id: holdId, hold_released: true },
  });
  return shown(row);
}

/** Locks the payment or trade of a hold, then its account, then the hold. Everybody who closes a hold uses this order. */
async function lockHold(
  tx: Transaction,
  holdId: string,
): Promise<{ client_id: string; closed: boolean; executed: boolean } | undefined> {
  const hold = first(
    await tx.query<{ client_id: string; account: number; payment_id: string | null; trade_id: string | null }>(
      'select client_id, currency_account_id as account, payment_id, trade_id from holds where hold_id = $1',
      [holdId],
    ),
  );
  if (!hold) return undefined;
  const { client_id: clientId, account, payment_id: payment, trade_id: trade } = hold;
  await tx.query(
    payment === null
      ? 'select from trades where client_id = $1 and trade_id = $2 for no key update'
      : 'select from payments where client_id = $1 and payment_id = $2 for no key update',
    [clientId, payment ?? trade],
  );
  await tx.query('select from currency_accounts where client_id = $1 and account_id = $2 for no key update', [
    clientId,
    account,
  ]);
  return first(
    await tx.query<{ client_id: string; closed: boolean; executed: boolean }>(
      `select client_id, closed_at is not null as closed, executed_at is not null as executed from holds
       where client_id = $1 and hold_id = $2 for no key update`,
      [clientId, holdId],
    ),
  );
}

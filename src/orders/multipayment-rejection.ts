import { shareLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { first, type Transaction } from '../database/database.ts';
import { setTradeStatus } from '../exchange/trade-status.ts';
import { movePayments } from '../payments/lifecycle.ts';
import { mayMove, type PaymentStatus } from '../payments/moves.ts';
import type { Presentation } from '../payments/presentation.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { findMultipayment, formattedId } from './multipayment.ts';

/**
 * Rejects a multi payment in the caller's transaction: rejects its trades, cancels its payments, and notifies each (docs/decisions.md, 3).
 * Payments and trades that were rejected or cancelled before stay unchanged.
 * @throws Problem multipayment_not_found; already_rejected; transition_not_allowed once one of its payments was sent
 */
export async function rejectMultipayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: { clientId: string; contactId: string; id: string; reason?: string | undefined },
): Promise<void> {
  const { clientId, contactId, reason } = request;
  await shareLock(tx, clientId);
  const found = await findMultipayment(tx, clientId, request.id);
  const id = found.multipayment_id;
  await lock(tx, clientId, id, act.now);
  noteChange(tx, act, { entity: 'multipayment', id: String(id), clientId, action: 'update' });
  await cancelPayments(tx, act, presentation, { clientId, contactId, id, reason });
  await rejectTrades(tx, act, presentation, { clientId, id });
  await tx.query(
    `update multipayments set status = 'rejected', rejected_at = $3 where client_id = $1 and multipayment_id = $2`,
    [clientId, id, act.now],
  );
  audit(tx, act, {
    action: 'update',
    entity: 'multipayment',
    entityId: formattedId(id),
    clientId,
    before: { status: 'created' },
    after: { status: 'rejected', reason },
  });
}

/** @throws Problem already_rejected; transition_not_allowed if its exchanges are binding */
async function lock(tx: Transaction, clientId: string, id: number, now: Date): Promise<void> {
  const locked = first(
    await tx.query<{ status: string; binds_at: Date | null }>(
      'select status, binds_at from multipayments where client_id = $1 and multipayment_id = $2 for no key update',
      [clientId, id],
    ),
  );
  if (locked?.status === 'rejected')
    throw new Problem('already_rejected', {
      field: 'multipayment_id',
      message: `${formattedId(id)} has already been rejected`,
    });
  if (!locked?.binds_at) return;
  if (locked.binds_at <= now || (await isUnderWay(tx, clientId, id)))
    throw new Problem('transition_not_allowed', {
      field: 'multipayment_id',
      message: 'its exchanges bind; its payments can be rejected one by one',
    });
}

/**
 * Whether an exchange of a multi payment has progressed or was debited. Its row is locked. A separate statement looks for debits, so that
 * it sees the changes of transactions that the lock waited for.
 */
async function isUnderWay(tx: Transaction, clientId: string, id: number): Promise<boolean> {
  const { rows } = await tx.query<{ trade_id: string; status: string }>(
    `select trade_id, status from trades where client_id = $1 and multipayment_id = $2 and buy_currency <> sell_currency
     order by trade_id for no key update`,
    [clientId, id],
  );
  if (rows.some(({ status }) => status !== 'Created')) return true;
  const { rows: debits } = await tx.query(
    'select from transactions where client_id = $1 and trade_id = any($2) and amount < 0 limit 1',
    [clientId, rows.map(({ trade_id: tradeId }) => tradeId)],
  );
  return debits.length > 0;
}

/** A payment of the multi payment, whose row is locked. */
interface LockedMember {
  payment_id: PaymentId;
  status: PaymentStatus;
  return_started: boolean;
  sent: boolean;
}

/** @throws Problem transition_not_allowed once a payment was sent */
async function cancelPayments(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: { clientId: string; contactId: string; id: number; reason: string | undefined },
): Promise<void> {
  const { clientId, contactId, id, reason } = request;
  const { rows } = await tx.query<LockedMember>(
    `select payment_id, status, return_started, sent_date is not null or status in ('Executing Payment', 'Payment complete') as sent
     from payments where client_id = $1 and multipayment_id = $2 order by id for update`,
    [clientId, id],
  );
  const sent = rows.find((row) => row.sent);
  if (sent)
    throw new Problem('transition_not_allowed', {
      field: 'multipayment_id',
      message: `its payment ${sent.payment_id} has been sent`,
    });
  const moves = rows
    .filter(({ status, return_started: returnStarted }) => mayMove({ status, returnStarted }, 'cancel'))
    .map(({ payment_id: paymentId }) => ({ clientId, contactId, paymentId, action: 'cancel' as const, reason }));
  const { refused } = await movePayments(tx, act, moves, { presentation });
  for (const problem of refused.values()) throw problem;
}

async function rejectTrades(
  tx: Transaction,
  act: Act,
  { apiUrl }: Presentation,
  { clientId, id }: { clientId: string; id: number },
): Promise<void> {
  const { rows } = await tx.query<{ trade_id: string }>(
    `select trade_id from trades where client_id = $1 and multipayment_id = $2 and status not in ('Rejected', 'Cancelled')
     order by trade_id for no key update`,
    [clientId, id],
  );
  for (const { trade_id: tradeId } of rows) await setTradeStatus(tx, act, apiUrl, { tradeId, status: 'Rejected' });
}

import { randomUUID } from 'node:crypto';
import * as approvals from '../approvals/workflow.ts';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import type { PaymentId, PaymentNumber } from '../identifiers.ts';
import { requireContact } from '../tenant.ts';
import { isUuid } from '../uuid.ts';
import { createPayment, type PaymentInput } from './creation.ts';
import { movePayment } from './lifecycle.ts';
import { allowedMoves, type PaymentStatus } from './moves.ts';
import type { Presentation } from './presentation.ts';
import { createTrade, setTradeStatus, type TradeInput } from './trade.ts';

/** Trades of one multi payment. */
export const MAX_MULTIPAYMENT_TRADES = 200;
/** Payments of one multi payment: they are created, and cancelled, in one transaction. */
export const MAX_MULTIPAYMENT_PAYMENTS = 1_000;

type Own<T> = Omit<T, 'client_id' | 'contact_id'> & { client_id?: string; contact_id?: string };

export interface MultipaymentInput {
  client_id: string;
  /** Who initiates it: the creator of its trades and payments. */
  contact_id: string;
  multipayment_unique_id?: string;
  trades: Own<TradeInput>[];
  /** `trade`: index into `trades`. */
  payments: (Omit<Own<PaymentInput>, 'trade_id'> & { trade: number })[];
}

export interface Multipayment {
  multipayment_id: number;
  client_id: string;
  multipayment_unique_id: string;
  contact_id: string;
  status: 'created' | 'rejected';
  trade_ids: string[];
  /** In the order of creation. */
  payments: PaymentNumber[];
}

/** The formatted identifier: `MP000001`. */
export function formattedId(id: number): string {
  return `MP${String(id).padStart(6, '0')}`;
}

/**
 * Books trades and creates the payments that they fund, all or nothing.
 * @returns multipayment_id
 * @throws Problem client_not_found, contact_not_found, invalid_body, and those of createTrade and createPayment, naming the element
 */
export async function createMultipayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  input: MultipaymentInput,
): Promise<number> {
  const { client_id: clientId, contact_id: contactId } = input;
  await requireContact(tx, { clientId, contactId });
  await approvals.shareLock(tx, clientId);
  const { rows } = await tx.query<{ id: number; unique: string }>(
    `insert into multipayments (client_id, multipayment_unique_id, contact_id, status, created_at)
     values ($1, $2, $3, 'created', $4) returning multipayment_id as id, multipayment_unique_id as unique`,
    [clientId, input.multipayment_unique_id ?? randomUUID(), contactId, act.now],
  );
  const made = rows[0] as { id: number; unique: string };
  const trades: string[] = [];
  for (const [index, trade] of input.trades.entries()) {
    const inside = `trades[${index}].`;
    const booked = await createTrade(tx, act, presentation.apiUrl, owned(trade, input, inside), {
      multipaymentId: made.id,
      inside,
    });
    trades.push(booked.trade_id);
  }
  for (const [index, { trade, ...payment }] of input.payments.entries()) {
    const inside = `payments[${index}].`;
    const tradeId = trades[trade];
    if (tradeId === undefined)
      throw new Problem('invalid_body', {
        field: `${inside}trade`,
        message: `must be an index into trades, 0 to ${trades.length - 1}`,
      });
    const body = { ...owned(payment, input, inside), trade_id: tradeId };
    await createPayment(tx, act, presentation, body, { multipaymentId: made.id, inside });
  }
  await audit(tx, act, {
    action: 'create',
    entity: 'multipayment',
    entityId: formattedId(made.id),
    clientId,
    after: { status: 'created', multipayment_unique_id: made.unique, trades, payments: input.payments.length },
  });
  return made.id;
}

/** A trade or payment of a multi payment belongs to its client and its contact. */
function owned<T extends { client_id?: string; contact_id?: string }>(
  body: T,
  input: MultipaymentInput,
  inside: string,
) {
  for (const name of ['client_id', 'contact_id'] as const) {
    if (body[name] !== undefined && body[name] !== input[name])
      throw new Problem('invalid_body', {
        field: `${inside}${name}`,
        message: 'must be that of the multi payment, or be left out',
      });
  }
  return { ...body, client_id: input.client_id, contact_id: input.contact_id };
}

/**
 * Finds a multi payment by any of its identifiers: the number, the formatted one, the uuid.
 * @param clientId null: of any client (the operator)
 * @throws Problem multipayment_not_found
 */
export async function findMultipayment(db: Db, clientId: string | null, id: string): Promise<Multipayment> {
  const { rows } = await db.query<Multipayment>(
    `select m.multipayment_id, m.client_id, m.multipayment_unique_id, m.contact_id, m.status,
       array(select t.trade_id from trades t where t.client_id = m.client_id and t.multipayment_id = m.multipayment_id
         order by t.created_at, t.trade_id) as trade_ids,
       array(select p.id::float8 from payments p where p.client_id = m.client_id and p.multipayment_id = m.multipayment_id
         order by p.id) as payments
     from multipayments m where ($1::text is null or m.client_id = $1) and ${condition(id)}`,
    [clientId, id.replace(/^MP/i, '')],
  );
  return rows[0] ?? notFound();
}

/** A text that is none of the forms names no multi payment. */
function condition(id: string): string {
  if (isUuid(id)) return 'm.multipayment_unique_id = $2::uuid';
  if (/^(MP)?\d{1,18}$/i.test(id)) return 'm.multipayment_id = $2::bigint';
  return notFound();
}

function notFound(): never {
  throw new Problem('multipayment_not_found', {
    field: 'multipayment_id',
    message: 'is no multi payment of the client',
  });
}

interface LockedMember {
  payment_id: PaymentId;
  status: PaymentStatus;
  return_started: boolean;
  sent: boolean;
}

/**
 * Rejects a multi payment in the caller's transaction: its trades are rejected, its payments cancelled, each notified
 * (docs/decisions.md, 3). Payments and trades that were rejected or cancelled before stay as they are.
 * @throws Problem multipayment_not_found; already_rejected; transition_not_allowed once a payment of it was sent
 */
export async function rejectMultipayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: { clientId: string; contactId: string; id: string },
): Promise<void> {
  const { clientId, contactId } = request;
  await approvals.shareLock(tx, clientId);
  const found = await findMultipayment(tx, clientId, request.id);
  const id = found.multipayment_id;
  const locked = await tx.query<{ status: string }>(
    'select status from multipayments where client_id = $1 and multipayment_id = $2 for no key update',
    [clientId, id],
  );
  if (locked.rows[0]?.status === 'rejected')
    throw new Problem('already_rejected', {
      field: 'multipayment_id',
      message: `${formattedId(id)} has been rejected before`,
    });

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
  for (const { payment_id: paymentId, status, return_started: returnStarted } of rows) {
    if (!allowedMoves({ status, returnStarted }).includes('cancel')) continue;
    await movePayment(tx, act, presentation, { clientId, contactId, paymentId, action: 'cancel' });
  }
  const trades = await tx.query<{ trade_id: string }>(
    `select trade_id from trades where client_id = $1 and multipayment_id = $2 and status not in ('Rejected', 'Cancelled')
     order by trade_id for no key update`,
    [clientId, id],
  );
  for (const trade of trades.rows) await setTradeStatus(tx, act, presentation.apiUrl, trade.trade_id, 'Rejected');
  await tx.query(
    `update multipayments set status = 'rejected', rejected_at = $3 where client_id = $1 and multipayment_id = $2`,
    [clientId, id, act.now],
  );
  await audit(tx, act, {
    action: 'update',
    entity: 'multipayment',
    entityId: formattedId(id),
    clientId,
    before: { status: 'created' },
    after: { status: 'rejected' },
  });
}

import { shareLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import type { Transaction } from '../database/database.ts';
import { createTrades } from '../exchange/trade-booking.ts';
import type { TradeInput } from '../exchange/trade-declaration.ts';
import { readTrade } from '../exchange/trade-input.ts';
import { requireContact } from '../identity/people/tenant.ts';
import { createPayments } from '../payments/creation.ts';
import type { PaymentInput } from '../payments/declaration.ts';
import { readPayment } from '../payments/new-payment.ts';
import type { Presentation } from '../payments/presentation.ts';
import { attempt, Problem } from '../values/errors.ts';
import { present } from '../values/unknown.ts';
import { formattedId } from './multipayment.ts';

/** The most trades of one multi payment. */
export const MAX_MULTIPAYMENT_TRADES = 200;
/** The most payments of one multi payment. They are created, and cancelled, in one transaction. */
export const MAX_MULTIPAYMENT_PAYMENTS = 1_000;

type Own<T> = Omit<T, 'client_id' | 'contact_id'> & { client_id?: string; contact_id?: string };

export interface MultipaymentInput {
  client_id: string;
  /** The contact who initiates it. It becomes the creator of its trades and payments. */
  contact_id: string;
  multipayment_unique_id?: string;
  trades: Own<TradeInput>[];
  /** `trade` is an index into `trades`. */
  payments: (Omit<Own<PaymentInput>, 'trade_id'> & { trade: number })[];
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
  await requireContact(tx, input);
  await shareLock(tx, clientId);
  const made = await beginMultipayment(tx, act, { clientId, contactId, given: input.multipayment_unique_id });
  const multipaymentId = made.id;
  const wanted = input.trades.map((trade, index) => {
    const inside = `trades[${index}].`;
    const values = attempt(() => readTrade(owned(trade, input, inside), act.now, inside));
    return {
      input: { ...trade, client_id: clientId, contact_id: contactId },
      id: trade.trade_id,
      values,
      multipaymentId,
    };
  });
  const trades = (await createTrades(tx, act, presentation.apiUrl, wanted)).map(({ trade_id: id }) => id);
  const payments = input.payments.map(({ trade, ...payment }, index) =>
    attempt(() => {
      const inside = `payments[${index}].`;
      const tradeId = trades[trade];
      if (tradeId === undefined)
        throw new Problem('invalid_body', {
          field: `${inside}trade`,
          message: `must be an index into trades, 0 to ${trades.length - 1}`,
        });
      return readPayment({ ...owned(payment, input, inside), trade_id: tradeId }, act.now, { multipaymentId, inside });
    }),
  );
  await createPayments(tx, act, presentation, payments);
  audit(tx, act, {
    action: 'create',
    entity: 'multipayment',
    entityId: formattedId(made.id),
    clientId,
    after: { status: 'created', multipayment_unique_id: made.unique, trades, payments: input.payments.length },
  });
  return made.id;
}

/**
 * Writes a multi payment that has neither trades nor payments yet.
 * @param bindsAt the moment from which its exchanges are binding (instructions, second page, 8)
 * @throws Problem already_exists
 */
export async function beginMultipayment(
  tx: Transaction,
  act: Act,
  {
    clientId,
    contactId,
    given,
    bindsAt,
  }: { clientId: string; contactId: string; given?: string | undefined; bindsAt?: Date },
): Promise<{ id: number; unique: string }> {
  const uniqueId = await newId(tx, clientId, 'multipayment_unique_id', given);
  const { rows } = await tx.query<{ id: number; unique: string }>(
    `insert into multipayments (client_id, multipayment_unique_id, contact_id, status, created_at, binds_at)
     values ($1, $2, $3, 'created', $4, $5) returning multipayment_id as id, multipayment_unique_id as unique`,
    [clientId, uniqueId, contactId, act.now, bindsAt ?? null],
  );
  const made = present(rows[0]);
  noteChange(tx, act, { entity: 'multipayment', id: String(made.id), clientId, action: 'create', created: true });
  return made;
}

/** Gives a trade or payment of a multi payment its client and contact. Values of its own must be the same. */
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

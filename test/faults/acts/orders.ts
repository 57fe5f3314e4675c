import type { Answer } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import { ORDERED_CURRENCY } from '../party.ts';
import { orderOf } from './bodies.ts';

/** What the core credits at once: sooner or later the account is empty. */
const CREDITED = '60.00';

/** A person of the party orders. */
export async function order(at: Caller): Promise<void> {
  const { party, random, known } = at;
  const body = orderOf(at);
  const { status, answer } = await at.order('order', random.pick(party.orders.tokens), {
    ...{ path: '/payments', body, table: 'payments', marks: body.payments.map(({ reference }) => reference) },
  });
  if (status !== 201) return;
  const ordered = (answer as Answer).body as { payment_id: string; amount: number }[];
  for (const { payment_id: id, amount } of ordered) {
    known.payments.push({ id, party });
    party.orders.made.push({ id, amount });
  }
}

/** The core sends a payment that was ordered, and books what it has paid. */
export async function settle(at: Caller): Promise<void> {
  const { clientId: client_id, orders } = at.party;
  const payment = orders.made.splice(at.random.whole(0, Math.max(0, orders.made.length - 1)), 1)[0];
  if (!payment) return;
  const actions = { path: `/payments/${payment.id}/actions` };
  await at.operator('action validate', { ...actions, body: { action: 'validate' } });
  const sent = await at.operator('action send', { ...actions, body: { action: 'send' } });
  if (sent.status !== 200) return;
  const transaction_reference = at.ledger.mark();
  const body = {
    ...{ client_id, currency_account_id: orders.accountId, kind: 'DEBIT_TRANSACTION', payment_id: payment.id },
    ...{ amount: { amount: payment.amount.toFixed(2), currency: ORDERED_CURRENCY }, transaction_reference },
  };
  await at.operator('debit of an order', {
    ...{ path: '/transactions', body, table: 'transactions', marks: [transaction_reference] },
  });
}

/** Money comes in that can be ordered. */
export async function credit(at: Caller): Promise<void> {
  const transaction_reference = at.ledger.mark();
  const body = {
    ...{ client_id: at.party.clientId, currency_account_id: at.party.orders.accountId, transaction_reference },
    ...{ kind: 'CREDIT_INCOMING_TRANSACTION', amount: { amount: CREDITED, currency: ORDERED_CURRENCY } },
  };
  await at.operator('credit', {
    ...{ path: '/transactions', body, table: 'transactions', marks: [transaction_reference] },
  });
}

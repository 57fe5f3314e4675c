import type { Caller } from '../caller.ts';

const ACTIONS = [
  ...['validate', 'send', 'complete', 'cancel', 'authorise', 'reject', 'request_information', 'provide_information'],
  ...['start_return', 'return', 'invalidate'],
];
/** Share of decisions that approve. */
const APPROVING = 0.85;
const MAX_DECIDED = 6;
const IMPORTED = ['validate', 'send', 'complete'];

export async function pay(at: Caller): Promise<void> {
  const { party, random, known } = at;
  const reference = at.ledger.mark();
  const beneficiary_id = random.pick(party.beneficiaries);
  const body = { ...party.base, reference, amount: random.whole(1, 5_000), beneficiary_id };
  const { status, answer } = await at.operator('payment', {
    ...{ path: '/payments', body, table: 'payments', marks: [reference] },
  });
  if (status === 201) known.payments.push({ id: answer?.body.payment_id, party });
}

export async function move(at: Caller): Promise<void> {
  const payment = at.known.recent(at.random);
  if (!payment) return;
  const body = { action: at.random.pick(ACTIONS), contact_id: at.random.pick(payment.party.approvers).id };
  await at.operator(`action ${body.action}`, { path: `/payments/${payment.id}/actions`, body });
}

/** By the contact itself, over the client API. */
export async function decide(at: Caller): Promise<void> {
  const payment = at.known.recent(at.random);
  if (!payment) return;
  const action = at.random.next() < APPROVING ? 'authorise' : 'reject';
  const { token } = at.random.pick(payment.party.approvers);
  await at
    .of(payment.party)
    .client(`decision ${action}`, token, { method: 'PATCH', path: `/payments/${payment.id}?action=${action}` });
}

/** By the contact itself, on many at once. */
export async function decideMany(at: Caller): Promise<void> {
  const { party, known, random } = at;
  const payment_ids = known.payments
    .filter((each) => each.party === party)
    .slice(-MAX_DECIDED)
    .map(({ id }) => id);
  if (payment_ids.length === 0) return;
  const action = random.next() < APPROVING ? 'authorise' : 'reject';
  const { id, token } = random.pick(party.approvers);
  const ask = { method: 'PATCH', path: `/payments?action=${action}`, body: { payment_ids }, silent: true };
  known.decided(await at.client(`decisions ${action}`, token, ask), id);
}

export async function cancel(at: Caller): Promise<void> {
  const payment = at.known.recent(at.random);
  if (!payment) return;
  const { party, id } = payment;
  await at.of(party).client('payment cancelled', party.token, { method: 'DELETE', path: `/payments/${id}` });
}

export async function importPayments(at: Caller): Promise<void> {
  const marks = Array.from({ length: at.random.whole(2, 8) }, () => at.ledger.mark());
  const lines = marks.map((reference) => JSON.stringify({ ...at.party.base, reference })).join('\n');
  await at.operator('import of payments', {
    ...{ path: '/imports/payments?notify=true', lines, table: 'payments', marks },
  });
}

export async function importActions(at: Caller): Promise<void> {
  const lines = Array.from({ length: 4 }, () => at.known.recent(at.random))
    .filter((payment) => payment !== undefined)
    .map(({ id }) => JSON.stringify({ payment_id: id, action: at.random.pick(IMPORTED) }));
  if (lines.length === 0) return;
  const path = '/imports/payment-actions';
  await at.operator('import of actions', { path, lines: lines.join('\n'), silent: true });
}

export async function payMany(at: Caller): Promise<void> {
  const { client_id, contact_id, trade_id, ...payment } = at.party.base;
  const trade = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 200, rate: 1.17 };
  const marks = [at.ledger.mark(), at.ledger.mark()];
  const payments = marks.map((reference) => ({ ...payment, trade: 0, reference }));
  const body = { client_id, contact_id, trades: [trade], payments };
  const { status, answer } = await at.operator('multi payment', {
    ...{ path: '/multipayments', body, table: 'payments', marks },
  });
  if (status === 201) at.party.multipayments.push(answer?.body.multipayment_id);
}

export async function rejectMany(at: Caller): Promise<void> {
  const { multipayments, token } = at.party;
  const id = multipayments.splice(at.random.whole(0, Math.max(0, multipayments.length - 1)), 1)[0];
  if (id === undefined) return;
  await at.client('multi payment rejected', token, { method: 'DELETE', path: `/multipayments/${id}` });
}

export async function book(at: Caller): Promise<void> {
  const transaction_reference = at.ledger.mark();
  const body = {
    ...{ client_id: at.party.clientId, currency_account_id: at.party.accountId, transaction_reference },
    kind: at.random.pick(['CREDIT_TRANSACTION', 'DEBIT_TRANSACTION']),
    amount: { amount: `${at.random.whole(1, 900)}.${at.random.whole(10, 99)}`, currency: 'EUR' },
  };
  await at.operator('transaction', {
    ...{ path: '/transactions', body, table: 'transactions', marks: [transaction_reference] },
  });
}

export async function importTransactions(at: Caller): Promise<void> {
  const { clientId: client_id, accountId: currency_account_id } = at.party;
  const marks = Array.from({ length: at.random.whole(2, 8) }, () => at.ledger.mark());
  const amount = { amount: '1.25', currency: 'EUR' };
  const lines = marks
    .map((transaction_reference) => ({ client_id, currency_account_id, amount, transaction_reference }))
    .map((line) => JSON.stringify({ ...line, kind: 'CREDIT_TRANSACTION' }))
    .join('\n');
  await at.operator('import of transactions', { path: '/imports/transactions', lines, table: 'transactions', marks });
}

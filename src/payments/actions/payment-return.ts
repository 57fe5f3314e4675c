import { randomUUID } from 'node:crypto';
import { transactionRow } from '../../accounts/booking.ts';
import { openCurrencyAccount } from '../../accounts/currency-account.ts';
import { type Booking, shown, type TransactionInput } from '../../accounts/transaction.ts';
import type { Act } from '../../audit/act.ts';
import { noteChange } from '../../audit/change.ts';
import { audit } from '../../audit/record.ts';
import { claimIds } from '../../database/cells/identifiers.ts';
import { type Columns, copyRows } from '../../database/copy.ts';
import type { Transaction } from '../../database/database.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { sum } from '../../values/money.ts';
import { notifyAll } from '../../webhooks/notification.ts';
import { type MoveRequest, movePayment } from '../lifecycle.ts';
import type { Presentation } from '../presentation.ts';

/**
 * Returns a payment: cancels it, and credits its amount to the client's account in its currency, in the caller's transaction
 * (docs/decisions.md, 3: RETURNED, and a CREDIT_PAYMENT_RETURNED_TRANSACTION). A client without such an account gets one.
 * @returns the identifier of the credit
 * @throws Problem as movePayment
 */
export async function returnPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: MoveRequest,
): Promise<string> {
  await movePayment(tx, act, presentation, request);
  const [credit = ''] = await creditReturns(tx, act, [request], {});
  return credit;
}

interface Credit {
  input: ReturnType<typeof creditOf> & TransactionInput;
  booking: Booking;
}

/** Credits payments that were returned to their clients' accounts, in their order. @returns the identifiers of the credits */
export async function creditReturns(
  tx: Transaction,
  act: Act,
  returned: { clientId: string; paymentId: PaymentId }[],
  { silent = false }: { silent?: boolean },
): Promise<string[]> {
  if (returned.length === 0) return [];
  const credits = await bookCredits(tx, act, returned);
  const rows = credits.map(({ input, booking }) => transactionRow(input, booking, act.now));
  const columns: Columns<(typeof rows)[number]> = Object.fromEntries(
    Object.keys(rows[0] ?? {}).map((column) => [column, (row: (typeof rows)[number]) => row[column]]),
  );
  await copyRows(tx, 'transactions', columns, rows);
  const transactions = credits.map(({ input, booking }) => ({ input, shown: shown(input, booking) }));
  await audit(
    tx,
    act,
    ...transactions.map(({ input, shown: after }) => ({
      action: 'create' as const,
      entity: 'transaction',
      entityId: after.transaction_id,
      clientId: input.client_id,
      after,
    })),
  );
  for (const { input } of credits) {
    const { client_id: clientId, currency_account_id: id } = input;
    noteChange(tx, act, { entity: 'currency_account', id: String(id), clientId, action: 'update' });
  }
  const ids = credits.map(({ booking }) => booking.id);
  if (silent) return ids;
  await notifyAll(
    tx,
    transactions.map(({ input, shown: transaction }) => ({
      clientId: input.client_id,
      type: input.kind,
      body: JSON.stringify({ data: [transaction] }),
      now: act.now,
    })),
  );
  return ids;
}

/** A payment that is credited to the client again. */
interface ReturnedPayment {
  client_id: string;
  payment_id: PaymentId;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
}

/** What is booked for a returned payment. @param account number of the client's account in its currency */
function creditOf(payment: ReturnedPayment, account: number) {
  return {
    client_id: payment.client_id,
    currency_account_id: account,
    kind: 'CREDIT_PAYMENT_RETURNED_TRANSACTION',
    amount: { amount: payment.amount, currency: payment.payment_currency },
    transaction_reference: payment.payment_id,
    transaction_information: `Return of payment ${payment.payment_id}`,
    debtor_name: payment.beneficiary_name,
    payment_id: payment.payment_id,
  } satisfies TransactionInput;
}

/** Moves the balances of the accounts, and gives each credit the balance after it. */
async function bookCredits(
  tx: Transaction,
  act: Act,
  returned: { clientId: string; paymentId: PaymentId }[],
): Promise<Credit[]> {
  const { rows: payments } = await tx.query<ReturnedPayment>(
    `select p.client_id, p.payment_id, p.amount, p.payment_currency, p.beneficiary_name
     from unnest($1::text[], $2::text[]) with ordinality as u(client_id, payment_id, place)
     join payments p on p.client_id = u.client_id and p.payment_id = u.payment_id order by u.place`,
    [returned.map(({ clientId }) => clientId), returned.map(({ paymentId }) => paymentId)],
  );
  const accounts = new Map<string, number>();
  for (const { client_id: clientId, payment_currency: currency } of payments) {
    const key = `${clientId}\0${currency}`;
    if (!accounts.has(key)) accounts.set(key, await openCurrencyAccount(tx, act, { clientId, currency }));
  }
  const inputs = payments.map((payment) =>
    creditOf(payment, accounts.get(`${payment.client_id}\0${payment.payment_currency}`) as number),
  );
  const balances = await lockBalances(tx, inputs);
  const credits = inputs.map((input): Credit => {
    const { amount } = input.amount;
    const balance = sum(balances.get(input.currency_account_id) as string, amount);
    balances.set(input.currency_account_id, balance);
    const booking = { id: randomUUID(), amount, debit: false, balance, booked: act.now, valued: act.now };
    return { input, booking };
  });
  await saveBalances(tx, inputs, balances);
  // Random identifiers: nobody else has one of them.
  await claimIds(
    tx,
    'transaction_id',
    credits.map(({ input, booking }) => ({ id: booking.id, clientId: input.client_id })),
  );
  return credits;
}

type Balances = Map<number, string>;

/** Locks the accounts in one order until the transaction ends: other bookings of them come before or after it as a whole. */
async function lockBalances(tx: Transaction, inputs: TransactionInput[]): Promise<Balances> {
  const clientOf = new Map(inputs.map((input) => [input.currency_account_id, input.client_id]));
  const { rows } = await tx.query<{ account_id: number; balance: string }>(
    `select a.account_id, a.balance from unnest($1::text[], $2::bigint[]) as u(client_id, account_id)
     join currency_accounts a on a.client_id = u.client_id and a.account_id = u.account_id order by a.account_id for update of a`,
    [[...clientOf.values()], [...clientOf.keys()]],
  );
  return new Map(rows.map((row) => [row.account_id, row.balance]));
}

async function saveBalances(tx: Transaction, inputs: TransactionInput[], balances: Balances): Promise<void> {
  const clientOf = new Map(inputs.map((input) => [input.currency_account_id, input.client_id]));
  await tx.query(
    `update currency_accounts a set balance = u.balance
     from unnest($1::text[], $2::bigint[], $3::numeric[]) as u(client_id, account_id, balance)
     where a.client_id = u.client_id and a.account_id = u.account_id`,
    [[...clientOf.values()], [...clientOf.keys()], [...clientOf.keys()].map((id) => balances.get(id))],
  );
}

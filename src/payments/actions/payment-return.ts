import { bookTransactions } from '../../accounts/booking.ts';
import { openCurrencyAccount } from '../../accounts/currency-account.ts';
import type { TransactionInput } from '../../accounts/transaction.ts';
import type { Act } from '../../audit/act.ts';
import type { Transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { present } from '../../values/unknown.ts';
import { type MoveRequest, movePayment } from '../lifecycle.ts';
import type { Presentation } from '../presentation.ts';

/**
 * Returns a payment: cancels it, and credits its amount to the client's account in its currency, in the caller's transaction
 * (docs/decisions.md, 3: RETURNED, and a CREDIT_PAYMENT_RETURNED_TRANSACTION). A client without such an account gets one. If the amount was
 * still held, nothing is credited, because it was never debited.
 * @returns the identifier of the credit; an empty text if there is none
 * @throws Problem those of movePayment
 */
export async function returnPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: MoveRequest,
): Promise<string> {
  const { uncredited } = await movePayment(tx, act, presentation, request);
  const [credit = ''] = await creditReturns(tx, act, uncredited ? [] : [request], {});
  return credit;
}

/** Credits returned payments to their clients' accounts, in order. @returns the identifiers of the credits */
export async function creditReturns(
  tx: Transaction,
  act: Act,
  returned: { clientId: string; paymentId: PaymentId }[],
  { silent }: { silent?: boolean },
): Promise<string[]> {
  if (returned.length === 0) return [];
  const credits = await creditsOf(tx, act, returned);
  const calls = credits.map((input) => ({ act, input }));
  const outcomes = await bookTransactions(tx, calls, { silent });
  return outcomes.map((outcome) => {
    if (outcome instanceof Problem) throw outcome;
    return present(outcome).transaction_id;
  });
}

/** A payment whose amount is credited back to the client. */
interface ReturnedPayment {
  client_id: string;
  payment_id: PaymentId;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
}

/** The credit for a returned payment. @param account number of the client's account in its currency */
function creditOf(payment: ReturnedPayment, account: number): TransactionInput {
  return {
    client_id: payment.client_id,
    currency_account_id: account,
    kind: 'CREDIT_PAYMENT_RETURNED_TRANSACTION',
    amount: { amount: payment.amount, currency: payment.payment_currency },
    transaction_reference: payment.payment_id,
    transaction_information: `Return of payment ${payment.payment_id}`,
    debtor_name: payment.beneficiary_name,
    payment_id: payment.payment_id,
  };
}

/** The credits for returned payments. Clients without an account in a payment's currency get one. */
async function creditsOf(
  tx: Transaction,
  act: Act,
  returned: { clientId: string; paymentId: PaymentId }[],
): Promise<TransactionInput[]> {
  const { rows: payments } = await tx.query<ReturnedPayment>(
    `select p.client_id, p.payment_id, p.amount, p.payment_currency, p.beneficiary_name
     from unnest($1::text[], $2::text[]) with ordinality as u(client_id, payment_id, place)
     join payments p on p.client_id = u.client_id and p.payment_id = u.payment_id order by u.place`,
    [returned.map(({ clientId }) => clientId), returned.map(({ paymentId }) => paymentId)],
  );
  const accounts = new Map<string, number>();
  const credits: TransactionInput[] = [];
  for (const payment of payments) {
    const { client_id: clientId, payment_currency: currency } = payment;
    const key = `${clientId}\0${currency}`;
    const account = accounts.get(key) ?? (await openCurrencyAccount(tx, act, { clientId, currency }));
    accounts.set(key, account);
    credits.push(creditOf(payment, account));
  }
  return credits;
}

import { bookTransaction } from '../../accounts/booking.ts';
import { openCurrencyAccount } from '../../accounts/currency-account.ts';
import type { TransactionInput, TransactionRecord } from '../../accounts/transaction.ts';
import type { Act } from '../../audit/act.ts';
import { first, type Transaction } from '../../database/database.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { type MoveRequest, movePayment } from '../lifecycle.ts';
import { noPayment } from '../payment.ts';
import type { Presentation } from '../presentation.ts';

/**
 * Returns a payment: cancels it, and credits its amount to the client's account in its currency, in the caller's transaction
 * (docs/decisions.md, 3: RETURNED, and a CREDIT_PAYMENT_RETURNED_TRANSACTION). A client without such an account gets one.
 * @returns the credit
 * @throws Problem as movePayment
 */
export async function returnPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  request: MoveRequest,
): Promise<TransactionRecord> {
  const { id } = await movePayment(tx, act, presentation, request);
  const payment = first(
    await tx.query<{ amount: string; payment_currency: string; beneficiary_name: string }>(
      `select p.amount, p.payment_currency, p.beneficiary_name from payments p
       where p.client_id = $1 and p.id = $2`,
      [request.clientId, id],
    ),
  );
  if (!payment) noPayment();
  const account = await openCurrencyAccount(tx, act, {
    clientId: request.clientId,
    currency: payment.payment_currency,
  });
  const credit = creditOf({ ...payment, client_id: request.clientId, payment_id: request.paymentId }, account);
  return bookTransaction(tx, act, credit, { silent: request.silent });
}

/** A payment that is credited to the client again. */
export interface ReturnedPayment {
  client_id: string;
  payment_id: PaymentId;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
}

/** What is booked for a returned payment. @param account number of the client's account in its currency */
export function creditOf(payment: ReturnedPayment, account: number) {
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

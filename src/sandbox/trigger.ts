import { bookTransaction } from '../accounts/booking.ts';
import { TRANSACTION_KINDS, type TransactionKind } from '../accounts/transaction.ts';
import type { Act } from '../audit/act.ts';
import { updateBeneficiary } from '../beneficiaries/beneficiary.ts';
import { first, type Transaction } from '../database/database.ts';
import { TRADE_STATUSES, type TradeStatus } from '../exchange/trade-declaration.ts';
import { setTradeStatus } from '../exchange/trade-status.ts';
import { findClient } from '../identity/people/client.ts';
import { recordOnboarding } from '../identity/people/onboarding.ts';
import { returnPayment } from '../payments/actions/payment-return.ts';
import { movePayment } from '../payments/lifecycle.ts';
import { type PaymentWebhookStatus, WEBHOOK_STATUSES } from '../payments/moves.ts';
import type { Presentation } from '../payments/presentation.ts';
import { Problem } from '../values/errors.ts';
import type { PaymentId } from '../values/identifiers.ts';
import { advancePayment } from './advance.ts';
import { approvable, asRuled, type ChooseApproval, needed, waiting } from './approval-choice.ts';
import { bookTrade, makeBeneficiary, newestCurrencyAccount, type Owner } from './belongings.ts';
import { createSandboxPayment } from './payment.ts';

const AMOUNT = '100.00';

/** What a trigger made: the entity of the requested notification, by the id in its body. */
export interface Triggered {
  event: string;
  entity: 'payment' | 'trade' | 'transaction' | 'onboarding_event' | 'beneficiary';
  entity_id: string;
}

/** The names of the service in documents and notifications. */
export interface Naming extends Presentation {
  /** LOMBARD_BRAND. */
  brand: string;
}

/**
 * Makes real data that causes a notification, in the caller's transaction. Everything on the legal way to it is notified too
 * (docs/sandbox.md, Trigger a notification).
 * @param event one of EVENTS
 * @throws Problem transition_not_allowed if the client cannot be notified of it
 */
export async function trigger(
  tx: Transaction,
  act: Act,
  naming: Naming,
  { event, ...owner }: Owner & { event: string },
): Promise<Triggered> {
  const wanted = BY_NAME.get(event);
  if (!wanted) throw new Problem('invalid_body', { field: 'event', message: `must be one of ${EVENTS.join(', ')}` });
  switch (wanted.type) {
    case 'PAYMENT_STATUS_CHANGE':
      return {
        event,
        entity: 'payment',
        entity_id: await triggerPayment(tx, act, naming, { owner, status: wanted.status }),
      };
    case 'TRADE_STATUS_CHANGE':
      return {
        event,
        entity: 'trade',
        entity_id: await triggerTrade(tx, act, naming, { owner, status: wanted.status }),
      };
    case 'ONBOARDING_STATUS_CHANGE':
      return { event, entity: 'onboarding_event', entity_id: await triggerOnboarding(tx, act, naming, owner) };
    case 'BENEFICIARY_STATUS_CHANGE':
      return { event, entity: 'beneficiary', entity_id: await triggerBeneficiary(tx, act, owner.clientId) };
    case 'CREDIT_PAYMENT_RETURNED_TRANSACTION': {
      const paymentId = await triggerPayment(tx, act, naming, { owner, status: 'PENDING_RETURN' });
      const request = { clientId: owner.clientId, paymentId, action: 'return' as const };
      return { event, entity: 'transaction', entity_id: await returnPayment(tx, act, naming, request) };
    }
    default:
      return { event, entity: 'transaction', entity_id: await triggerTransaction(tx, act, owner, wanted.type) };
  }
}

/** How to choose the approval of a payment for a given status. Payments for other statuses must be able to go on. */
const CHOICES: Partial<Record<PaymentWebhookStatus, ChooseApproval>> = {
  CREATED: asRuled,
  PENDING_OF_AUTHORIZATION: waiting,
  REJECTED: needed,
  CANCELLED: asRuled,
  INVALIDATED: asRuled,
};

async function triggerPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  { owner, status }: { owner: Owner; status: PaymentWebhookStatus },
): Promise<PaymentId> {
  const { clientId } = owner;
  const number = await createSandboxPayment(tx, act, presentation, owner, CHOICES[status] ?? approvable);
  const payment = first(
    await tx.query<{ payment_id: PaymentId; pending: boolean }>(
      `select payment_id, status = 'Payment pending of authorization' as pending from payments where client_id = $1 and id = $2`,
      [clientId, number],
    ),
  );
  if (!payment) throw new Error('the payment that was just created is missing');
  const { payment_id: paymentId, pending } = payment;
  const request = { clientId, paymentId };
  if (status === 'AUTHORIZED' && pending) await advancePayment(tx, act, presentation, { ...request, to: 'next' });
  if (status === 'REJECTED') await advancePayment(tx, act, presentation, { ...request, to: 'Payment rejected' });
  if (status === 'CANCELLED') await advancePayment(tx, act, presentation, { ...request, to: 'Payment cancelled' });
  if (status === 'INVALIDATED') await movePayment(tx, act, presentation, { ...request, action: 'invalidate' });
  if (status === 'RETURNED') await advancePayment(tx, act, presentation, { ...request, to: 'returned' });
  if (status === 'SENT' || status === 'PENDING_RETURN')
    await advancePayment(tx, act, presentation, { ...request, to: 'Executing Payment' });
  if (status === 'PENDING_RETURN') await movePayment(tx, act, presentation, { ...request, action: 'start_return' });
  return paymentId;
}

async function triggerTrade(
  tx: Transaction,
  act: Act,
  { apiUrl }: Presentation,
  { owner, status }: { owner: Owner; status: TradeStatus },
): Promise<string> {
  const tradeId = await bookTrade(tx, act, apiUrl, owner);
  await setTradeStatus(tx, act, apiUrl, { tradeId, status });
  return tradeId;
}

async function triggerTransaction(tx: Transaction, act: Act, owner: Owner, kind: TransactionKind): Promise<string> {
  const { account_id: account, currency } = await newestCurrencyAccount(tx, act, owner.clientId);
  const { transaction_id: id } = await bookTransaction(tx, act, {
    client_id: owner.clientId,
    currency_account_id: account,
    kind,
    amount: { amount: AMOUNT, currency },
    transaction_reference: 'Sandbox',
    transaction_information: 'A trial of the sandbox',
  });
  return id;
}

/** Makes a beneficiary that waits for a review, and verifies it. */
async function triggerBeneficiary(tx: Transaction, act: Act, clientId: string): Promise<string> {
  const { beneficiary_id: id } = await makeBeneficiary(tx, act, clientId, { beneficiary_verified: false });
  await updateBeneficiary(tx, act, id, { beneficiary_verified: true });
  return id;
}

/** @throws Problem transition_not_allowed for a customer of the mass payments offering, who is not notified */
async function triggerOnboarding(tx: Transaction, act: Act, naming: Naming, owner: Owner): Promise<string> {
  const client = await findClient(tx, owner.clientId, 'client_id');
  if (client.mass_payments_customer)
    throw new Problem('transition_not_allowed', {
      field: 'event',
      message: 'a customer of the mass payments offering is not notified of its onboarding',
    });
  const { id } = await recordOnboarding(tx, act, naming, { client_id: owner.clientId, onboarding_status: 'Active' });
  return id;
}

/** An event of EVENTS, split into its parts. */
export type SandboxEvent =
  | { type: 'PAYMENT_STATUS_CHANGE'; status: PaymentWebhookStatus }
  | { type: 'TRADE_STATUS_CHANGE'; status: TradeStatus }
  | { type: 'ONBOARDING_STATUS_CHANGE' | 'BENEFICIARY_STATUS_CHANGE' }
  | { type: TransactionKind };

const payment = (status: PaymentWebhookStatus): SandboxEvent => ({ type: 'PAYMENT_STATUS_CHANGE', status });
const trade = (status: TradeStatus): SandboxEvent => ({ type: 'TRADE_STATUS_CHANGE', status });

const BY_NAME: ReadonlyMap<string, SandboxEvent> = new Map([
  ['PAYMENT_STATUS_CHANGE', payment('CREATED')],
  ...WEBHOOK_STATUSES.map((status) => [`PAYMENT_STATUS_CHANGE:${status}`, payment(status)] as const),
  ['TRADE_STATUS_CHANGE', trade('Created')],
  ...TRADE_STATUSES.map((status) => [`TRADE_STATUS_CHANGE:${status}`, trade(status)] as const),
  ...TRANSACTION_KINDS.map((type) => [type, { type }] as const),
  ['ONBOARDING_STATUS_CHANGE', { type: 'ONBOARDING_STATUS_CHANGE' }],
  ['BENEFICIARY_STATUS_CHANGE', { type: 'BENEFICIARY_STATUS_CHANGE' }],
]);

/** What an integrator can trigger: a WebhookType alone, or with a status (docs/sandbox.md, Trigger a notification). */
export const EVENTS: readonly string[] = [...BY_NAME.keys()];

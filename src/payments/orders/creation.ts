import { randomUUID } from 'node:crypto';
import { openHolds } from '../../accounts/held-money.ts';
import { evaluate } from '../../approvals/approval.ts';
import { type Requirement, requirementsBy, rulesOf } from '../../approvals/requirement.ts';
import type { Act } from '../../audit/act.ts';
import { newIds } from '../../database/cells/identifiers.ts';
import { type Transaction, together } from '../../database/database.ts';
import { writeBooking } from '../../exchange/quote-booking.ts';
import { type NewTrade, writeOwnTrades } from '../../exchange/trade-booking.ts';
import type { TradeInput } from '../../exchange/trade-declaration.ts';
import type { TradeValues } from '../../exchange/trade-input.ts';
import { londonDay } from '../../values/calendar.ts';
import { type BodyFault, Problem } from '../../values/errors.ts';
import { Exact } from '../../values/json.ts';
import { present } from '../../values/unknown.ts';
import type { PaymentInput } from '../declaration.ts';
import { type NewPayment, type OrderedPayment, readPayment, statusOf } from '../new-payment.ts';
import type { Presentation } from '../presentation.ts';
import { writePayments } from '../writing.ts';
import { useOfLimit } from './daily-limit.ts';
import { type JudgedOrder, judgeOrder } from './judgement.ts';
import type { Order } from './order.ts';
import { fundingOf, type OrderScene, readScene } from './scene.ts';

/** A payment that was ordered, in the form of its client's answer. If the order was only tried, the fields of what would be made are null. */
export interface OrderedAnswer {
  payment_id: string | null;
  trade_id: string | null;
  beneficiary_id: string;
  status: string;
  amount: Exact;
  payment_currency: string;
  payment_date: string;
  reference: string;
  scheme: string;
  charges: string;
  uuid: string | null;
  fee_amount: null;
  fee_currency: null;
  payment_instruction: string | null;
  payment_receipt: null;
  warning: string | null;
}

/** Options of an order. */
export interface OrderOptions {
  presentation: Presentation;
  /** The countries of SEPA. */
  sepa: ReadonlySet<string>;
  /** Whether the order is only tried. Then its transaction leaves nothing behind. */
  tried: boolean;
  /** The faults of its body (`faultsOfOrder`). */
  faults: readonly BodyFault[];
}

/**
 * Creates the payments that a client orders, in the caller's transaction, all or nothing. A payment from an account also gets a trade and a
 * hold. Approvals, notifications and the feed work as for any other payment.
 * @throws Problem those of `judgeOrder`, exchange_rate_missing, limit_exceeded
 */
export async function orderPayments(
  tx: Transaction,
  act: Act,
  order: Order,
  { presentation, sepa, tried, faults }: OrderOptions,
): Promise<OrderedAnswer[]> {
  const ids = order.payments.map(() => ({ id: undefined, input: { client_id: order.clientId } }) as Identified);
  const tradeIds = order.trade_id === undefined && order.quote_id === undefined ? ids.map((each) => ({ ...each })) : [];
  const [scene] = await together([
    readScene(tx, act.now, order),
    newIds(tx, 'payment_id', ids, false),
    newIds(tx, 'trade_id', tradeIds, false),
  ]);
  const judged = judgeOrder(order, scene, { now: act.now, sepa, faults });
  const payments = newPayments(act, order, { judged, scene, ids, tradeIds });
  await requireApprovals(tx, payments, scene);
  await useLimit(tx, payments, scene);
  const trades = scene.trade ? [] : payments.map((payment) => ownTrade(act, payment));
  if (scene.funds)
    openHolds(
      tx,
      act.now,
      payments.map((payment) => holdOf(payment, scene)),
    );
  // Each trade is written before its payment, so that the change feed shows the cause first.
  const { booking } = scene;
  const { clientId, contactId, quote_id: quoteId } = order;
  if (booking && quoteId !== undefined)
    await writeBooking(tx, act, presentation.apiUrl, {
      ...{ booking: { clientId, contactId, quoteId }, scene: booking, order: fundingOf(order) },
    });
  if (trades.length > 0) await writeOwnTrades(tx, act, presentation.apiUrl, trades);
  await writePayments(tx, act, presentation, payments, { permitted: scene.permitted });
  return payments.map((payment, index) => {
    const { warning } = present(judged.payments[index]);
    return answerOf(payment, { presentation, tried, warning });
  });
}

interface Identified {
  id: string | undefined;
  input: { client_id: string };
}

function newPayments(
  act: Act,
  order: Order,
  {
    judged,
    scene,
    ids,
    tradeIds,
  }: { judged: JudgedOrder; scene: OrderScene; ids: readonly Identified[]; tradeIds: readonly Identified[] },
): NewPayment[] {
  const { clientId, contactId, funding_account_id: account, quote_id: quote, reason } = order;
  return order.payments.map((wanted, index) => {
    const { payee, amount, date, scheme } = present(judged.payments[index]);
    const input: PaymentInput = {
      client_id: clientId,
      contact_id: contactId,
      trade_id: scene.trade?.trade_id ?? present(tradeIds[index]?.id),
      beneficiary_id: payee.beneficiary_id,
      amount,
      payment_currency: judged.currency,
      payment_date: date,
      reference: wanted.reference,
      charges: wanted.charges ?? 'SHA',
      scheme,
    };
    const ordered: OrderedPayment = {
      order_reason: reason ?? null,
      purpose_of_payment: wanted.purpose_of_payment ?? payee.purpose_of_payment,
      email_beneficiary: wanted.email_beneficiary ?? null,
      account_id: payee.account_id,
      funding_account_id: account ?? null,
      quote_id: quote ?? null,
      request_index: index,
      instruction_id: null,
      end_to_end_id: null,
      own_trade: scene.trade === undefined,
      limit_amount: null,
      limit_currency: null,
    };
    return Object.assign(readPayment(input, act.now), {
      ...{ id: ids[index]?.id, payee, ordered, creatorName: scene.creatorName, workflow: scene.workflow },
      joinsTrade: !payee.joined,
    });
  });
}

/**
 * Determines what each payment requires. If the client uses a second factor, a payment that needs nobody else's approval waits for its
 * creator's. `codeGiven`: the creator has given a code for all of the payments, so that their creation is its approval.
 */
export async function requireApprovals(
  tx: Transaction,
  payments: readonly NewPayment[],
  {
    rules,
    permitted,
    stepUp,
    codeGiven = false,
  }: Pick<OrderScene, 'rules' | 'permitted' | 'stepUp'> & { codeGiven?: boolean },
): Promise<void> {
  const wanted = payments.map(({ input, amount }) => ({
    ...{ clientId: input.client_id, creatorId: input.contact_id, amount, currency: input.payment_currency },
  }));
  const found = await requirementsBy(tx, rules, wanted);
  for (const [index, payment] of payments.entries()) {
    const requirement = found[index] ?? null;
    if (requirement instanceof Problem) throw requirement;
    const { client_id: clientId, contact_id: creator } = payment.input;
    const others = requirement !== null && !(await isComplete(tx, { clientId, requirement }, permitted));
    payment.requirement = stepUp && !others ? { creator, creation_counts: codeGiven, own: true } : requirement;
  }
}

/** Whether the creation alone meets the requirement. */
async function isComplete(
  tx: Transaction,
  { clientId, requirement }: { clientId: string; requirement: Requirement },
  permitted: Map<string, Set<string>>,
): Promise<boolean> {
  const rules = await rulesOf(tx, clientId, requirement);
  return evaluate(rules, { requirement, authorisations: [] }, permitted.get(clientId) ?? new Set()).complete;
}

/** @throws Problem exchange_rate_missing, limit_exceeded */
export async function useLimit(
  tx: Transaction,
  payments: readonly NewPayment[],
  scene: Pick<OrderScene, 'day' | 'settings'>,
): Promise<void> {
  if (!scene.day) return;
  const { currency } = scene.day;
  const { decimals } = scene.settings.currency(currency);
  const use = await useOfLimit(tx, scene.day, payments.map(inCurrency), decimals);
  if (use.problem) throw use.problem;
  for (const [index, { ordered }] of payments.entries())
    if (ordered) Object.assign(ordered, { limit_amount: use.amounts[index], limit_currency: currency });
}

const inCurrency = ({ amount, input }: NewPayment) => ({ amount, currency: input.payment_currency });

/** The trade of a payment from an account: the same currency on both sides. */
export function ownTrade({ now }: Act, { input, amount, ordered, multipaymentId }: NewPayment): NewTrade {
  const { client_id, contact_id, trade_id: id, payment_currency: currency } = input;
  const given: TradeInput = {
    ...{ client_id, contact_id, trade_type: 'spot', rate: '1', reference: input.reference ?? null },
    ...{ buy_currency: currency, sell_currency: currency, buy_amount: amount, sell_amount: amount },
  };
  // The values need no checks, because the payment was checked.
  const values: TradeValues = {
    ...{ type: 'spot', rate: '1', buyAmount: amount, sellAmount: amount, symbol: `${currency}${currency}` },
    ...{ orderDate: londonDay(now), maturity: null, feeAmount: null },
  };
  const of = { reason: ordered?.order_reason ?? null, mass_payment_id: input.mass_payment_id ?? null, single: true };
  const booked = { input: given, id, values, ordered: of };
  return multipaymentId === undefined ? booked : { ...booked, multipaymentId };
}

/** What a payment holds on the account that pays it. */
export function holdOf({ id, input, amount }: NewPayment, { funds }: Pick<OrderScene, 'funds'>) {
  return {
    holdId: randomUUID(),
    clientId: input.client_id,
    accountId: funds?.account_id as number,
    currency: input.payment_currency,
    amount,
    paymentId: present(id),
  };
}

function answerOf(
  payment: NewPayment,
  { presentation, tried, warning }: { presentation: Presentation; tried: boolean; warning: string | null },
): OrderedAnswer {
  const { id = '', input, amount, uuid, ordered } = payment;
  const link = new URLSearchParams({ type: 'pi', id, client_id: input.client_id });
  return {
    payment_id: tried ? null : id,
    trade_id: tried && (ordered?.own_trade || ordered?.quote_id) ? null : input.trade_id,
    beneficiary_id: input.beneficiary_id,
    status: statusOf(payment),
    amount: new Exact(amount),
    payment_currency: input.payment_currency,
    payment_date: input.payment_date,
    reference: input.reference ?? '',
    scheme: input.scheme ?? '',
    charges: input.charges ?? '',
    uuid: tried ? null : uuid,
    fee_amount: null,
    fee_currency: null,
    payment_instruction: tried ? null : `${presentation.apiUrl}/documents?${link}`,
    payment_receipt: null,
    warning,
  };
}

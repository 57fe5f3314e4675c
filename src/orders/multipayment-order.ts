import Big from 'big.js';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Transaction, together } from '../database/database.ts';
import type { Environment } from '../exchange/pricing.ts';
import { type NewPayment, statusOf } from '../payments/new-payment.ts';
import { left, requireOpen } from '../payments/orders/judgement.ts';
import type { Orderer } from '../payments/orders/order.ts';
import type { Presentation } from '../payments/presentation.ts';
import { Problem } from '../values/errors.ts';
import { Exact } from '../values/json.ts';
import { sum } from '../values/money.ts';
import { present } from '../values/unknown.ts';
import { createInstructed, type MadePayment } from './instructions/creation.ts';
import { type BookedExchange, bookExchanges, groupsOf, priceGroups, requirePrices } from './instructions/exchanges.ts';
import { coverInstructions, type JudgedInstruction, judgeInstructions } from './instructions/judgement.ts';
import type { Instruction } from './instructions/row.ts';
import { type InstructionScene, readInstructionScene, requireSource, type Source } from './instructions/scene.ts';
import { formattedId } from './multipayment.ts';
import { beginMultipayment } from './multipayment-creation.ts';
import { type Rights, rightsOf } from './rights.ts';
import { type AnsweredFault, answered } from './rows.ts';

/** The most instructions of one multi payment. */
export const MAX_INSTRUCTIONS = 200;

/** A trade of a multi payment in the form that its client reads. */
interface TradeDetails {
  trade_id: string | null;
  buy_amount: Exact;
  buy_currency: string;
  sell_amount: Exact;
  sell_currency: string;
  client_rate: Exact;
  client_rate_symbol: string;
  value_date: string;
}

/** A multi payment that was ordered. If it was only tried, the fields of what would be made are null. */
export interface OrderedMultipayment {
  multipayment_id: number | null;
  multipayment: string | null;
  multipayment_unique_id: string | null;
  trade_details: TradeDetails[];
  payments: { payment_id: string | null; request_index: number; status: string }[];
  invalid_payments: (Record<string, unknown> & { errors: AnsweredFault[]; request_index: number })[];
}

/** Options of an order. */
interface Options {
  presentation: Presentation;
  environment: Environment;
  /** The countries of SEPA. */
  sepa: ReadonlySet<string>;
  /** Whether valid instructions are done even if others are not valid. */
  partial: boolean;
  tried: boolean;
}

/**
 * Makes the payments of instructions, and the exchanges that they need, in the caller's transaction (instructions, second page, 8).
 * @param rows well-formed instructions
 * @throws Problem trade_not_found, currency_account_not_found, permission_denied, transition_not_allowed, trade_not_open,
 * currency_mismatch, those of a quote, insufficient_funds, payments_invalid, limit_exceeded
 */
export async function orderMultipayment(
  tx: Transaction,
  act: Act,
  { orderer, source, rows }: { orderer: Orderer; source: Source; rows: readonly Instruction[] },
  options: Options,
): Promise<OrderedMultipayment> {
  const [scene, rights] = await together([
    readInstructionScene(tx, act.now, orderer, { source, rows }),
    rightsOf(tx, orderer),
  ]);
  requireSource(scene, source);
  const judged = judgeInstructions(rows, { source, scene, now: act.now, sepa: options.sepa });
  requireRights(rights, judged);
  if (scene.trade) requireOpen(scene.trade);
  const { funds } = scene;
  if (funds && funds.currency !== source.sellCurrency)
    throw new Problem('currency_mismatch', {
      field: 'funding_account_id',
      message: `the account is in ${funds.currency}, and ${source.sellCurrency} is sold`,
    });
  const { environment, presentation } = options;
  const pricing = { environment, clientId: orderer.clientId, now: act.now, firm: true };
  const priced = await priceGroups(tx, groupsOf(judged), { ...pricing, sellCurrency: source.sellCurrency ?? '' });
  const prices = requirePrices(priced);
  const sold = prices.map(({ terms }) => terms.sellAmount);
  requireFunds(scene, sold);
  const covered = coverInstructions(judged, scene, funds ? sold : []);
  requireValid(rows, covered, options.partial);

  const bindsAt = priced[0] ? new Date(act.now.getTime() + priced[0].quoteSeconds * 1_000) : undefined;
  const made = await beginMultipayment(tx, act, { ...orderer, ...(bindsAt && { bindsAt }) });
  const exchanges = await bookExchanges(tx, act, presentation.apiUrl, {
    ...{ orderer, priced: prices, source, scene, multipaymentId: made.id },
  });
  const payments = await createInstructed(tx, act, {
    ...{ presentation, orderer, source, scene, judged: covered, exchanges, multipaymentId: made.id },
  });
  const tradeIds = [...exchanges.map(({ tradeId }) => tradeId), ...payments.flatMap(({ trade }) => trade?.id ?? [])];
  audit(tx, act, {
    ...{ action: 'create', entity: 'multipayment', entityId: formattedId(made.id), clientId: orderer.clientId },
    after: {
      ...{ status: 'created', multipayment_unique_id: made.unique, trades: tradeIds },
      ...{ payments: payments.length, source: 'client' },
    },
  });
  const answer = answerOf({ rows, covered, exchanges, payments });
  if (options.tried) return withoutNumbers(answer);
  return {
    ...{ multipayment_id: made.id, multipayment: formattedId(made.id), multipayment_unique_id: made.unique },
    ...answer,
  };
}

/** Requires the permissions that single instructions need. @throws Problem permission_denied */
function requireRights(rights: Rights, judged: readonly JudgedInstruction[]): void {
  const needed = [
    judged.some(({ described }) => described) ? (['can_manage_beneficiaries'] as const) : [],
    judged.some(({ exchanged }) => exchanged) ? (['can_trade'] as const) : [],
  ].flat();
  const missing = needed.find((permission) => !rights[permission]);
  if (missing) throw new Problem('permission_denied', `the contact needs ${missing} for this client`);
}

/** Requires that the account covers what the exchanges sell, before any payment. @throws Problem insufficient_funds */
function requireFunds({ funds }: InstructionScene, sold: readonly string[]): void {
  if (!funds || sold.length === 0) return;
  const available = left(funds.balance, funds.held);
  const needed = sold.reduce(sum);
  if (new Big(available).gte(needed)) return;
  throw new Problem('insufficient_funds', `available: ${available}, needed: ${needed}, currency: ${funds.currency}`);
}

/** @throws Problem payments_invalid */
function requireValid(rows: readonly Instruction[], covered: readonly JudgedInstruction[], partial: boolean): void {
  if (covered.length === rows.length || (partial && covered.length > 0)) return;
  const invalid = rows.filter(({ faults }) => faults.length > 0);
  const listed = invalid.flatMap(({ faults, index }) =>
    answered(faults).map((fault) => ({ ...fault, request_index: index })),
  );
  const what = `${invalid.length} of ${rows.length} instructions cannot be done; the first is at index ${invalid[0]?.index}`;
  throw new Problem('payments_invalid', what, { listed: listed as NonNullable<Problem['listed']> });
}

function answerOf({
  rows,
  covered,
  exchanges,
  payments,
}: {
  rows: readonly Instruction[];
  covered: readonly JudgedInstruction[];
  exchanges: readonly BookedExchange[];
  payments: readonly MadePayment[];
}): Pick<OrderedMultipayment, 'trade_details' | 'payments' | 'invalid_payments'> {
  const done = new Set(covered.map(({ row }) => row.index));
  const bought = exchanges.map(({ tradeId, trade: { input, values, ordered } }) => ({
    ...{ trade_id: tradeId, buy_amount: new Exact(values.buyAmount), buy_currency: input.buy_currency },
    ...{ sell_amount: new Exact(values.sellAmount), sell_currency: input.sell_currency },
    ...{ client_rate: new Exact(values.rate), client_rate_symbol: values.symbol },
    value_date: ordered?.value_date ?? '',
  }));
  const own = payments.flatMap(({ trade, payment }) => (trade ? [ownDetails(payment, present(trade.id))] : []));
  return {
    trade_details: [...bought, ...own],
    payments: payments.map(({ payment, judged }) => ({
      ...{ payment_id: present(payment.id), request_index: judged.row.index, status: statusOf(payment) },
    })),
    invalid_payments: rows
      .filter(({ index }) => !done.has(index))
      .map(({ shown, faults, index }) => ({ ...shown, errors: answered(faults), request_index: index })),
  };
}

/** The trade of a payment that is made in the sell currency itself. */
function ownDetails({ amount, input }: NewPayment, tradeId: string): TradeDetails {
  const { payment_currency: currency } = input;
  return {
    ...{ trade_id: tradeId, buy_amount: new Exact(amount), buy_currency: currency },
    ...{ sell_amount: new Exact(amount), sell_currency: currency },
    ...{ client_rate: new Exact('1'), client_rate_symbol: `${currency}${currency}`, value_date: input.payment_date },
  };
}

/** The answer for an order that was only tried: it has no numbers because nothing was made. */
function withoutNumbers(
  answer: Pick<OrderedMultipayment, 'trade_details' | 'payments' | 'invalid_payments'>,
): OrderedMultipayment {
  return {
    ...{ multipayment_id: null, multipayment: null, multipayment_unique_id: null, ...answer },
    trade_details: answer.trade_details.map((trade) => ({ ...trade, trade_id: null })),
    payments: answer.payments.map((payment) => ({ ...payment, payment_id: null })),
  };
}

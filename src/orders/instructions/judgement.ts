import Big from 'big.js';
import { keysOf } from '../../beneficiaries/account-key.ts';
import { currencyRefusal, type OrderedFields } from '../../beneficiaries/order.ts';
import { isAllowed } from '../../exchange/client-pricing.ts';
import { judgeValueDate, maturityOf } from '../../exchange/value-date.ts';
import { left } from '../../payments/orders/judgement.ts';
import type { OrderedPayee } from '../../payments/orders/scene.ts';
import { paymentDate } from '../../payments/payment-date.ts';
import { bankCountry, type Scheme, schemeRuleFor } from '../../payments/schemes.ts';
import { londonDay } from '../../values/calendar.ts';
import { type ErrorCode, Problem, refusalOf } from '../../values/errors.ts';
import { decimalsOf } from '../../values/money.ts';
import type { RowFault } from '../rows.ts';
import type { Instruction } from './row.ts';
import type { InstructionScene, Source } from './scene.ts';

/** Judges whether instructions can be done. It reads nothing except the scene. What is wrong with a row is added to its faults. */

/** An instruction that can be done, as far as it has been judged. */
export interface JudgedInstruction {
  row: Instruction;
  /** The payee; undefined if it is a new one. */
  payee: OrderedPayee | undefined;
  /** The new payee that the row describes. Equal payees have the same `key`. */
  described: { fields: OrderedFields; key: string } | undefined;
  date: string;
  /** Why the day differs from the requested one; null if it does not differ, or if no day was requested. */
  warning: string | null;
  scheme: Scheme;
  /** Whether its currency has to be bought. */
  exchanged: boolean;
}

/** The settings for judging instructions. */
export interface Judging {
  now: Date;
  /** The countries of SEPA. */
  sepa: ReadonlySet<string>;
}

/** Judges the rows that have no fault yet. @returns those that still have none */
export function judgeInstructions(
  rows: readonly Instruction[],
  { source, scene, now, sepa }: Judging & { source: Source; scene: InstructionScene },
): JudgedInstruction[] {
  return rows.flatMap((row) => {
    if (row.faults.length > 0) return [];
    const judged = judgeRow(row, { source, scene, now, sepa });
    return row.faults.length > 0 ? [] : [judged];
  });
}

function judgeRow(
  row: Instruction,
  { source, scene, now, sepa }: Judging & { source: Source; scene: InstructionScene },
): JudgedInstruction {
  const { currency: code, amount, beneficiaryId } = row;
  const { settings, trade } = scene;
  const currency = settings.currency(code);
  const fault = (field: string, faultCode: RowFault['code'], message: string) =>
    row.faults.push({ field, code: faultCode, message });
  if (decimalsOf(amount) > currency.decimals)
    fault(
      'payment_amount',
      'invalid_format',
      `must have at most ${currency.decimals} digits after the point, as ${code} has`,
    );
  const known = scene.described.get(row.index);
  const payee = scene.payees.get(beneficiaryId ?? known?.twin ?? '');
  const described = !payee && row.payee ? { fields: row.payee, key: keyOf(row.payee) } : undefined;
  for (const problem of payeeProblems(row, payee, { blocked: known?.blocked, described: row.payee }))
    fault(problem.fault?.field ?? '', problem.code, problem.fault?.message ?? problem.details);
  const exchanged = trade === undefined && code !== source.sellCurrency;
  // A currency that nobody may use is refused as the payee's already.
  for (const [problemCode, message] of currencyRefusals(code, scene))
    if (!row.faults.some((known) => known.code === problemCode)) fault('payment_currency', problemCode, message);
  const country = bankCountry(payee ?? (row.payee as OrderedFields | undefined) ?? { iban: null, swift_code: null });
  const rule = schemeRuleFor(settings.schemes, { payment_currency: code, amount, country }, sepa);
  const none = { row, payee, described, date: '', warning: null, scheme: rule.scheme, exchanged };
  if (row.faults.length > 0) return none;
  try {
    const maturity = exchanged ? firstMaturity(scene, source, code, now) : (trade?.maturity_date ?? null);
    const asked = row.valueDate ?? londonDay(now);
    const { date, warning } = paymentDate({ asked, currency, rule, maturity, now, field: 'value_date' });
    return { ...none, date, warning: row.valueDate === undefined ? null : warning };
  } catch (error) {
    fault('value_date', 'invalid_format', refusalOf(error).fault?.message ?? 'is too far away');
    return none;
  }
}

/** Identifies a new payee. Payees that differ in name, account or currency are different ones. */
function keyOf(fields: OrderedFields): string {
  return JSON.stringify([...Object.values(keysOf(fields)), fields.currency]);
}

function payeeProblems(
  { currency, beneficiaryId }: Instruction,
  payee: OrderedPayee | undefined,
  { blocked, described }: { blocked: Problem | undefined; described: OrderedFields | undefined },
): Problem[] {
  const field = beneficiaryId === undefined ? 'beneficiary_name' : 'beneficiary_id';
  if (beneficiaryId !== undefined && !payee)
    return [new Problem('beneficiary_not_found', { field, message: 'does not exist for this client' })];
  if (blocked || payee?.account_blocked)
    return [new Problem('beneficiary_blocked', { field, message: 'its account is blocked' })];
  const refusal = described && !payee ? currencyRefusal(described.currency) : undefined;
  if (refusal) return [new Problem(refusal.code, { field: 'payment_currency', message: refusal.fault?.message ?? '' })];
  if (!payee || payee.currency === currency) return [];
  const message = `must be a payee in ${currency}, the currency of the payment`;
  return [new Problem('currency_mismatch', { field, message })];
}

function* currencyRefusals(
  code: string,
  { trade, settings }: InstructionScene,
): Generator<[code: ErrorCode, message: string]> {
  if (trade && trade.buy_currency !== code)
    yield ['currency_mismatch', `must be ${trade.buy_currency}, which the trade buys`];
  if (!isAllowed(settings.pricing, code, 'pay_allowed'))
    yield ['currency_not_allowed', `the client may not pay ${code}`];
}

/** Why the client may not make the exchange of an instruction. If exchanges are all or nothing, pricing them reports this instead. */
export function exchangeRefusal(
  { row: { currency } }: JudgedInstruction,
  { sellCurrency = '' }: Source,
  { settings: { pricing } }: InstructionScene,
): string | undefined {
  if (!isAllowed(pricing, currency, 'buy_allowed')) return `the client may not buy ${currency}`;
  return isAllowed(pricing, sellCurrency, 'sell_allowed') ? undefined : `the client may not sell ${sellCurrency}`;
}

/** When the first possible spot in a currency matures. The currency cannot be paid earlier. */
function firstMaturity({ settings }: InstructionScene, { sellCurrency = '' }: Source, code: string, now: Date): Date {
  const sold = settings.currency(sellCurrency);
  const dated = judgeValueDate({ kind: 'spot', asked: undefined, currencies: [sold, settings.currency(code)], now });
  if ('code' in dated) throw new Problem('invalid_body', { field: dated.field, message: dated.message });
  return maturityOf(dated.date, sold);
}

/**
 * Gives what is left of the trade or the account to its instructions, in their order. An instruction that is no longer covered gets a
 * fault.
 * @param taken from the account already, as decimals: what exchanges hold
 * @returns the instructions that are covered, including those that buy their currency
 */
export function coverInstructions(
  judged: readonly JudgedInstruction[],
  { trade, funds }: Pick<InstructionScene, 'trade' | 'funds'>,
  taken: readonly string[] = [],
): JudgedInstruction[] {
  const available = trade
    ? left(trade.buy_amount, trade.allocated)
    : taken.reduce((rest, amount) => left(rest, amount), left(funds?.balance ?? '0', funds?.held ?? '0'));
  let rest = new Big(available);
  const code = trade ? 'trade_amount_exceeded' : 'insufficient_funds';
  return judged.filter(({ row, exchanged }) => {
    if (exchanged) return true;
    if (rest.gte(row.amount)) {
      rest = rest.minus(row.amount);
      return true;
    }
    const message = `available: ${rest.toFixed(decimalsOf(available))}, needed: ${row.amount}, currency: ${row.currency}`;
    row.faults.push({ field: '', code, message });
    return false;
  });
}

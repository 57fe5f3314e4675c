import { electronic } from '../../beneficiaries/bank-account.ts';
import type { BankTable } from '../../beneficiaries/bank-table.ts';
import { LENGTHS } from '../../beneficiaries/declaration.ts';
import { type OrderedBody, type OrderedFields, readNew } from '../../beneficiaries/order.ts';
import { isCalendarDay } from '../../values/calendar.ts';
import { isCountry } from '../../values/countries.ts';
import { isCurrency } from '../../values/currencies.ts';
import type { FaultCode } from '../../values/errors.ts';
import { Exact, type WrittenDigits, writtenDigits } from '../../values/json.ts';
import { decimal } from '../../values/money.ts';
import { REASONS } from '../../values/reasons.ts';
import { hasCharacters, shownName } from '../../values/text.ts';
import { MAX_UNKNOWN_FIELDS, type RowFault, sameness } from '../rows.ts';
import { inTurns } from '../turns.ts';

/**
 * An instruction is one row of many. This file reads what it says, and checks what does not depend on the client's data (instructions,
 * second page, 8). It is pure.
 */

/** A row as the caller sent it. */
export type SentRow = Readonly<Record<string, unknown>>;

/** A row that was read. */
export interface Instruction {
  /** Its place in the list, from 0. */
  index: number;
  /** The value that was sent, whatever it is. */
  given: unknown;
  /** The sent row with all digits of its numbers, for answers. */
  shown: SentRow;
  faults: RowFault[];
  /** Whether it has a fault of form: an unknown field or a wrong type. */
  malformed: boolean;
  currency: string;
  /** A decimal. */
  amount: string;
  reference: string;
  /** `YYYY-MM-DD` */
  valueDate: string | undefined;
  instructionId: string | undefined;
  /** The payee. Either this or `payee` is set. */
  beneficiaryId: string | undefined;
  payee: OrderedFields | undefined;
  purpose: string | undefined;
}

const MAX_DIGITS = 15;
const AMOUNT = /^\d{1,15}(?:\.\d{1,15})?$/;
const CONTROLS = /\p{Cc}/u;

type Check = (text: string) => Omit<RowFault, 'field'> | undefined;

const invalid = (message: string, code: FaultCode = 'invalid_format') => ({ code, message });
const lengths = (least: number, most: number) => (text: string) =>
  hasCharacters(text, { least, most }) ? undefined : invalid(`must have ${least} to ${most} characters`);
const oneOf =
  (...words: readonly string[]) =>
  (text: string) =>
    words.includes(text) ? undefined : invalid(`must be ${words.length === 1 ? `\`${words[0]}\`` : 'one of the list'}`);
/** A bank detail. It is checked after blanks and hyphens are removed. If nothing remains, it was left out. */
const detail: Check = () => undefined;
const isLeftOut = (value: unknown) => typeof value === 'string' && electronic(value) === '';
const filled: Check = (text) => (/\S/.test(text) ? undefined : invalid('must not be blank'));
const limited =
  (most: number): Check =>
  (text) =>
    filled(text) ?? lengths(1, most)(text);
const country: Check = (text) =>
  isCountry(text) ? undefined : invalid('must be a country of ISO 3166-1', 'invalid_country');

/** The fields of a row that describe the payment. */
const OF_PAYMENT: Record<string, Check> = {
  payment_currency: (text) =>
    isCurrency(text) ? undefined : invalid('must be a currency of ISO 4217', 'invalid_currency'),
  payment_reference: (text) =>
    CONTROLS.test(text) ? invalid('must have no control characters') : lengths(3, 140)(text),
  direction: oneOf('buy'),
  trade_type: oneOf('spot'),
  value_date: (text) => (isCalendarDay(text) ? undefined : invalid('must be a calendar day as YYYY-MM-DD')),
  instruction_id: lengths(1, 35),
};
/** The fields of a row that describe the payee, with a beneficiary's name for each. */
const OF_PAYEE: Record<string, [name: string, check: Check]> = {
  beneficiary_name: ['name', filled],
  beneficiary_country: ['country_code', country],
  bank_country: ['bank_country_code', country],
  beneficiary_address: ['address_line_1', filled],
  beneficiary_city: ['city', limited(LENGTHS.city)],
  beneficiary_state: ['state_region', limited(LENGTHS.state_region)],
  beneficiary_post_code: ['post_code', limited(LENGTHS.post_code)],
  iban: ['iban', detail],
  account_number: ['account_number', detail],
  bank_code: ['bank_identifier', detail],
  swift_code: ['swift_code', detail],
  bank_name: ['bank_name', limited(LENGTHS.bank_name)],
  purpose_of_payment: ['purpose_of_payment', limited(LENGTHS.purpose_of_payment)],
  reason_for_trade: ['reason_for_trade', oneOf(...REASONS)],
};
/** The fields of a row, in order. */
export const ROW_FIELDS = [
  ...['payment_currency', 'payment_amount', 'payment_reference', 'direction', 'trade_type', 'value_date'],
  ...['instruction_id', 'beneficiary_id', ...Object.keys(OF_PAYEE)],
] as const;
const REQUIRED = ['payment_currency', 'payment_amount', 'payment_reference', 'direction', 'trade_type'];
const REQUIRED_OF_PAYEE = ['beneficiary_name', 'beneficiary_country', 'bank_country'];
const KNOWN: ReadonlySet<string> = new Set(ROW_FIELDS);
/** A row's name for each field of a beneficiary. */
const CALLED = new Map([
  ...Object.entries(OF_PAYEE).map(([field, [name]]): [string, string] => [name, field]),
  ['bank_currency_code', 'payment_currency'],
]);

/** How the rows were sent. */
export interface Sending {
  table: BankTable;
  /** Whether all values are texts, including amounts, because they are cells of a CSV. */
  texts?: boolean;
  /** The digits of the numbers in the rows' document. */
  digits?: WrittenDigits | undefined;
}

/** Reads the rows of a document, yielding to other work in between. @param rows of one document that `parseJson` returned, or cells of a CSV */
export function readRows(
  document: unknown,
  rows: readonly unknown[],
  how: Omit<Sending, 'digits'>,
): Promise<Instruction[]> {
  const digits = writtenDigits(document);
  return inTurns([...rows.entries()], (some) => some.map(([index, row]) => readRow(row, index, { ...how, digits })));
}

/** Reads a row. It reports all its faults, at most one for each field. */
export function readRow(row: unknown, index: number, { table, texts = false, digits }: Sending): Instruction {
  const isObject = typeof row === 'object' && row !== null && !Array.isArray(row);
  const sent = (isObject ? row : {}) as SentRow;
  const faults = new Map<string, RowFault>();
  let malformed = false;
  const fault = (field: string, { code, message }: Omit<RowFault, 'field'>) => {
    if (!faults.has(field)) faults.set(field, { code, field, message });
  };
  const misshapen = (field: string, given: Omit<RowFault, 'field'>) => {
    malformed = true;
    fault(field, given);
  };
  if (!isObject) misshapen('', invalid('must be an object'));
  const unknown = Object.keys(sent).filter((field) => !KNOWN.has(field));
  for (const field of unknown.slice(0, MAX_UNKNOWN_FIELDS))
    misshapen(shownName(field), { code: 'unknown_field', message: 'is not a field of an instruction' });

  const text = (field: string, check: Check): string | undefined => {
    const value = sent[field];
    if (value == null) return undefined;
    if (typeof value !== 'string') {
      misshapen(field, invalid('must be a string'));
      return undefined;
    }
    const wrong = check(value);
    if (wrong) fault(field, wrong);
    return wrong ? undefined : value;
  };
  const values = Object.fromEntries(
    Object.entries(OF_PAYMENT).map(([field, check]) => [field, text(field, check)]),
  ) as Record<string, string | undefined>;
  const { payment_currency: currency = '', payment_reference: reference = '' } = values;
  const amount = amountOf(sent, { texts, digits, fault, misshapen });
  const beneficiaryId = text('beneficiary_id', lengths(1, MAX_ID));
  const given = Object.entries(OF_PAYEE).flatMap(([field, [name, check]]) => {
    const value = text(field, check);
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const field of REQUIRED) if (sent[field] == null) fault(field, { code: 'required', message: 'is required' });
  let payee: OrderedFields | undefined;
  if (sent.beneficiary_id != null) {
    for (const [field, [, check]] of Object.entries(OF_PAYEE))
      if (sent[field] != null && !(check === detail && isLeftOut(sent[field])))
        fault(field, invalid('must not be given beside beneficiary_id'));
  } else if (isObject) {
    for (const field of REQUIRED_OF_PAYEE)
      if (sent[field] == null) fault(field, { code: 'required', message: 'is required, or beneficiary_id' });
    payee = payeeOf({ ...Object.fromEntries(given), bank_currency_code: currency || undefined }, { table, fault });
  }
  return {
    ...{
      index,
      given: row,
      shown: withDigits(sent, digits?.get(sent)),
      malformed,
      currency,
      amount,
      reference,
      beneficiaryId,
      payee,
    },
    ...{ valueDate: values.value_date, instructionId: values.instruction_id },
    ...{ purpose: payee?.purpose_of_payment ?? undefined, faults: inOrder(faults) },
  };
}

/** A row with its numbers as they were written. */
function withDigits(sent: SentRow, digits: ReadonlyMap<string, string> | undefined): SentRow {
  if (!digits) return sent;
  return { ...sent, ...Object.fromEntries([...digits].map(([field, text]) => [field, new Exact(text)])) };
}

const MAX_ID = 64;
type Telling = (field: string, fault: Omit<RowFault, 'field'>) => void;

function amountOf(
  sent: SentRow,
  {
    texts,
    digits,
    fault,
    misshapen,
  }: { texts: boolean; digits: WrittenDigits | undefined; fault: Telling; misshapen: Telling },
): string {
  const value = sent.payment_amount;
  if (value == null) return '';
  const field = 'payment_amount';
  if (typeof value !== (texts ? 'string' : 'number')) {
    misshapen(field, invalid(`must be a ${texts ? 'decimal' : 'number'}`));
    return '';
  }
  const written = digits?.get(sent)?.get(field) ?? String(value);
  if (AMOUNT.test(written) && /[1-9]/.test(written)) return decimal(written, field, { decimals: MAX_DIGITS });
  fault(
    field,
    invalid(`must be a number above 0, with at most ${MAX_DIGITS} digits on each side of the point and no exponent`),
  );
  return '';
}

/** Reads the payee of a row as a beneficiary. If no city is given, the address is split at its last comma. */
function payeeOf(body: OrderedBody, { table, fault }: { table: BankTable; fault: Telling }): OrderedFields {
  const { address_line_1: address, city } = body;
  const parted: Record<string, unknown> = { ...body };
  if (typeof address === 'string' && city === undefined) {
    const at = address.lastIndexOf(',');
    if (at >= 0) {
      parted.address_line_1 = address.slice(0, at).trim() || undefined;
      parted.city = address.slice(at + 1).trim() || undefined;
    }
  }
  for (const name of ['address_line_1', 'city'] as const) {
    const value = parted[name];
    if (typeof value !== 'string' || hasCharacters(value, { most: LENGTHS[name] })) continue;
    const what = name === 'city' ? 'a city' : 'a line';
    fault('beneficiary_address', invalid(`must have ${what} of at most ${LENGTHS[name]} characters`));
  }
  const { fields, faults } = readNew(table, parted);
  for (const { field, code, message } of faults) fault(CALLED.get(field) ?? field, { code, message });
  return fields;
}

function inOrder(faults: ReadonlyMap<string, RowFault>): RowFault[] {
  const rank = ({ field }: RowFault) => (ROW_FIELDS as readonly string[]).indexOf(field) + 1 || ROW_FIELDS.length + 1;
  return [...faults.values()].sort((one, other) => rank(one) - rank(other));
}

/** A text that is the same for equal instructions. @param also further values by which instructions differ */
export function sameInstruction({ given, amount }: Instruction, also: readonly unknown[]): string {
  return sameness(given, amount ? { payment_amount: [shortest(amount)] } : {}, also);
}

/** A decimal without superfluous zeros. */
function shortest(amount: string): string {
  if (!amount.includes('.')) return amount;
  let end = amount.length;
  while (amount[end - 1] === '0') end -= 1;
  return amount.slice(0, amount[end - 1] === '.' ? end - 1 : end);
}

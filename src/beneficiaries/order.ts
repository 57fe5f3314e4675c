import { isCountry } from '../values/countries.ts';
import { isCurrency, isExcluded } from '../values/currencies.ts';
import { type BodyFault, Problem } from '../values/errors.ts';
import { tableOf } from '../values/unknown.ts';
import { BANK_DETAILS, type BankAccount, detailFaults, electronic, judgeAccount } from './bank-account.ts';
import { ALSO_ASKED, type BankTable, rowFor } from './bank-table.ts';
import { type Beneficiary, LENGTHS } from './declaration.ts';

/** Reads what clients send about a beneficiary. Pure rules for the body of an order (instructions, 4). */

/** Texts of a beneficiary that are stored as they are given. */
const TEXTS = [
  ...([
    'address_line_1',
    'city',
    'state_region',
    'post_code',
    'beneficiary_reference',
    'reference_information',
  ] as const),
  ...(['bank_name', 'bank_address_line_1', 'purpose_of_payment', 'reason_for_trade'] as const),
] as const;

/** The fields of a beneficiary that clients give, in their stored form. */
export type OrderedFields = Pick<
  Beneficiary,
  | (typeof TEXTS)[number]
  | (typeof BANK_DETAILS)[number]
  | ('beneficiary_name' | 'country_code' | 'bank_country_code' | 'currency')
  | ('email_notification' | 'email_addresses')
>;

/** The body of an order. Its fields may have any type; the schema reports wrong ones. */
export type OrderedBody = Readonly<Record<string, unknown>>;

/** Characters that no text of a beneficiary may contain: control, format, and line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Reads the fields of a body that have the right type.
 * @returns the given values, with null for a cleared field, and the faults of the texts, except bank details
 */
function readFields(body: OrderedBody): { given: Partial<OrderedFields>; faults: BodyFault[] } {
  const given: Partial<OrderedFields> = {};
  const faults: BodyFault[] = [];
  const invalid = (field: string, message: string) => faults.push({ code: 'invalid_format', field, message });
  const { name, country_code: country, bank_country_code: bankCountry, bank_currency_code: currency } = body;
  if (typeof name === 'string') {
    given.beneficiary_name = name.trim().replace(/\s+/gu, ' ');
    const length = [...given.beneficiary_name].length;
    if (UNSEEN.test(name)) invalid('name', NO_UNSEEN);
    else if (length < 1 || length > LENGTHS.name)
      invalid('name', `must have 1 to ${LENGTHS.name} characters besides blanks around it`);
  }
  if (isCode(country, isCountry)) given.country_code = country;
  if (isCode(bankCountry, isCountry)) given.bank_country_code = bankCountry;
  if (isCode(currency, isCurrency)) given.currency = currency;
  for (const field of TEXTS) {
    const text = body[field];
    if (text !== null && typeof text !== 'string') continue;
    Object.assign(given, { [field]: text });
    if (text !== null && UNSEEN.test(text)) invalid(field, NO_UNSEEN);
  }
  for (const field of BANK_DETAILS) {
    const text = body[field];
    if (text === null) given[field] = null;
    // An empty value counts as left out.
    else if (typeof text === 'string' && electronic(text) !== '') given[field] = electronic(text);
  }
  const { email_notification: mails, email_addresses: addresses } = body;
  if (mails === null || typeof mails === 'boolean') given.email_notification = mails ?? false;
  if (addresses === null) given.email_addresses = [];
  if (Array.isArray(addresses)) {
    given.email_addresses = addresses.filter((each) => typeof each === 'string');
    const hidden = given.email_addresses.findIndex((each) => UNSEEN.test(each));
    if (hidden >= 0) invalid(`email_addresses[${hidden}]`, NO_UNSEEN);
  }
  return { given, faults };
}

const NO_UNSEEN = 'must have no control or format characters';

function isCode(value: unknown, isKnown: (code: string) => boolean): value is string {
  return typeof value === 'string' && isKnown(value);
}

/** The fields of a beneficiary before anything is read. */
const NOTHING: OrderedFields = {
  ...tableOf([...TEXTS, ...BANK_DETAILS], () => null),
  ...{ beneficiary_name: '', country_code: null, bank_country_code: null, currency: null },
  ...{ email_notification: false, email_addresses: [] },
};

/**
 * Reads a beneficiary that is to be created.
 * @returns its fields, and all faults that the schema cannot find
 */
export function readNew(table: BankTable, body: OrderedBody): { fields: OrderedFields; faults: BodyFault[] } {
  const { given, faults } = readFields(body);
  const fields = { ...NOTHING, ...given };
  return { fields, faults: [...faults, ...judgeAccount(table, accountOf(fields)), ...mailFaults(fields)] };
}

/** The result of a change of a beneficiary. */
export interface ReadChange {
  fields: OrderedFields;
  /** The fields whose value differs after the change. */
  changed: (keyof OrderedFields)[];
  faults: BodyFault[];
}

/**
 * Reads a change. If a bank detail changes, or a field that the row requires, they are all judged together.
 * @param before undefined if there is no such beneficiary: then the given fields are judged on their own
 */
export function readChange(table: BankTable, body: OrderedBody, before: OrderedFields | undefined): ReadChange {
  const { given, faults } = readFields(body);
  const fields = { ...NOTHING, ...before, ...given };
  if (!before) return { fields, changed: [], faults: [...faults, ...detailFaults(accountOf(fields))] };
  const names = Object.keys(given) as (keyof OrderedFields)[];
  const changed = names.filter((name) => JSON.stringify(given[name]) !== JSON.stringify(before[name]));
  const { bank_country_code: country, currency } = fields;
  const row = country !== null && currency !== null ? rowFor(table, country, currency) : undefined;
  const whole: readonly string[] = [...BANK_DETAILS, 'bank_country_code', 'currency', ...(row?.also ?? [])];
  const account = changed.some((name) => whole.includes(name)) ? judgeAccount(table, accountOf(fields)) : [];
  const mails = changed.some((name) => name.startsWith('email_')) ? mailFaults(fields) : [];
  return { fields, changed, faults: [...faults, ...account, ...mails] };
}

function accountOf(fields: OrderedFields): BankAccount {
  const { bank_country_code, currency } = fields;
  return {
    ...tableOf([...BANK_DETAILS, ...ALSO_ASKED], (name) => fields[name]),
    bank_country_code,
    bank_currency_code: currency,
  };
}

function mailFaults({ email_notification: mails, email_addresses: addresses }: OrderedFields): BodyFault[] {
  if (!mails || addresses.length > 0) return [];
  return [{ code: 'required', field: 'email_addresses', message: 'is required with email_notification' }];
}

/** Why an account may not have a currency. */
export function currencyRefusal(currency: string | null): Problem | undefined {
  if (currency === null || !isExcluded(currency)) return undefined;
  return new Problem('currency_not_allowed', {
    field: 'bank_currency_code',
    message: `${currency} is not paid`,
  });
}

/** Fields that may change while a payment is on its way, because none of them says who is paid. */
const FREE: readonly string[] = ['email_notification', 'email_addresses', 'beneficiary_reference'];
/** Fields whose change does not require another review. */
const UNSEEN_BY_STAFF: readonly string[] = [...FREE, 'reference_information', 'purpose_of_payment', 'reason_for_trade'];
/** Fields that determine which account is paid. */
const PAID: readonly string[] = [...BANK_DETAILS, 'bank_country_code', 'currency'];

/** What a change of some fields means. */
export function meaningOf(changed: readonly string[]): {
  /** Whether it affects who is paid. Then it is refused while a payment is on its way. */
  bound: boolean;
  /** Whether the institution must review the beneficiary again. */
  unverifies: boolean;
  /** Whether another account may be paid. */
  redirects: boolean;
  /** Whether it may become equal to another beneficiary. */
  renames: boolean;
} {
  const redirects = changed.some((name) => PAID.includes(name));
  return {
    bound: changed.some((name) => !FREE.includes(name)),
    unverifies: changed.some((name) => !UNSEEN_BY_STAFF.includes(name)),
    redirects,
    renames: redirects || changed.includes('beneficiary_name'),
  };
}

import { readFileSync } from 'node:fs';
import { getCountrySpecifications } from 'ibantools';
import { A_COUNTRY, isCountry } from '../values/countries.ts';
import { A_CURRENCY, isCurrency } from '../values/currencies.ts';
import { StartupError } from '../values/errors.ts';
import { messageOf } from '../values/unknown.ts';
import { type Check, isCheck } from './check-digits.ts';

/** The fields that identify an account, and that a group of a row can name. */
export const ACCOUNT_DETAILS = ['account_number', 'iban', 'bank_identifier', 'swift_code'] as const;
export type AccountDetail = (typeof ACCOUNT_DETAILS)[number];

/** Further fields that a row can require. */
export const ALSO_ASKED = [
  ...(['address_line_1', 'city', 'state_region', 'post_code', 'purpose_of_payment', 'reason_for_trade'] as const),
] as const;
export type AlsoAsked = (typeof ALSO_ASKED)[number];

/** The fields whose form depends on the row. */
const FORMATTED = ['account_number', 'bank_identifier'] as const;
export type Formatted = (typeof FORMATTED)[number];

/** The codes for faults of a bank detail. */
export const DETAIL_CODES = [
  ...([
    'invalid_account_number',
    'invalid_bank_identifier',
    'invalid_sort_code',
    'invalid_aba',
    'invalid_clabe',
  ] as const),
] as const;
export type DetailCode = (typeof DETAIL_CODES)[number];

/** The form of a bank detail: how many digits, or letters and digits, it has, and what else is checked. */
export interface Format {
  digits?: [shortest: number, longest: number];
  letters_digits?: [shortest: number, longest: number];
  check?: Check;
  code: DetailCode;
  /** The name of the detail in that country. */
  label?: string;
}

/** What a payee needs if its bank is in a country and its account has a currency. The first row that fits decides. */
export interface BankRow {
  /** A country code, `SEPA`, `IBAN` (any country of the IBAN registry), or `*` (any). */
  country: string;
  /** A currency code, or `*` (any). */
  currency: string;
  /** At least one of these groups is needed. */
  groups: AccountDetail[][];
  also: AlsoAsked[];
  formats: { [Field in Formatted]?: Format };
}

/** What the payees of each country and currency need. These are the data of bank-details.json. */
export interface BankTable {
  /** The date of the list of SEPA countries. */
  sepa_as_of?: string;
  sepa: string[];
  rows: BankRow[];
}

/** Countries whose accounts have IBANs and BICs of another country. */
const BANKS_ELSEWHERE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['GG', 'IM', 'JE'].map((code) => [code, 'GB'])),
  ...Object.fromEntries(
    ['GF', 'GP', 'MQ', 'RE', 'YT', 'PM', 'BL', 'MF', 'NC', 'PF', 'TF', 'WF'].map((code) => [code, 'FR']),
  ),
};

/** Countries that joined the IBAN registry after the library's list was made. The library knows their lengths. */
const NEW_IN_REGISTRY = ['BI', 'DJ', 'FK', 'HN'];

const REGISTRY: ReadonlySet<string> = new Set([
  ...Object.entries(getCountrySpecifications()).flatMap(([code, { IBANRegistry }]) => (IBANRegistry ? [code] : [])),
  ...Object.keys(BANKS_ELSEWHERE),
  ...NEW_IN_REGISTRY,
]);

/** Whether an IBAN or a BIC with one country's code may belong to a bank in another country. */
export function isBankedIn(code: string, country: string): boolean {
  return code === country || BANKS_ELSEWHERE[country] === code;
}

/** Whether a row applies to a country. */
export function fitsCountry({ sepa }: BankTable, row: BankRow, country: string): boolean {
  if (row.country === '*') return true;
  if (row.country === 'SEPA') return sepa.includes(country);
  if (row.country === 'IBAN') return REGISTRY.has(country);
  return row.country === country;
}

/** The row that decides for a country and a currency. */
export function rowFor(table: BankTable, country: string, currency: string): BankRow {
  const fits = (row: BankRow) => fitsCountry(table, row, country) && [currency, '*'].includes(row.currency);
  const row = table.rows.find(fits);
  if (!row) throw new TypeError('the table of bank details has no last row');
  return row;
}

const OWN = new URL('bank-details.json', import.meta.url);
/** Tables by file, so that each is read once. */
const TABLES = new Map<string, BankTable>();

/**
 * The table in force: the file that LOMBARD_BANK_DETAILS names, or else the service's own.
 * @throws StartupError one line that names the variable and what is wrong
 */
export function bankTable(file: string | undefined): BankTable {
  const key = file ?? '';
  const known = TABLES.get(key);
  if (known) return known;
  try {
    const table = readBankTable(readFileSync(file ?? OWN, 'utf8'));
    TABLES.set(key, table);
    return table;
  } catch (error) {
    throw new StartupError(
      `LOMBARD_BANK_DETAILS: must be a table of bank details as \`lombard bank-details\` prints it, not "${file}" (${messageOf(error)})`,
      { cause: error },
    );
  }
}

/**
 * Reads a table of bank details.
 * @param text JSON
 * @throws Error that says what is wrong
 */
export function readBankTable(text: string): BankTable {
  const table = objectAt('the file', JSON.parse(text), ['sepa', 'rows'], ['sepa_as_of']);
  if (table.sepa_as_of !== undefined) textAt('sepa_as_of', table.sepa_as_of);
  for (const [index, code] of listAt('sepa', table.sepa).entries())
    if (!isCountry(textAt(`sepa[${index}]`, code))) throw new Error(`sepa[${index}] ${A_COUNTRY}`);
  const rows = listAt('rows', table.rows);
  for (const [index, row] of rows.entries()) checkRow(`rows[${index}]`, row);
  const last = rows.at(-1) as BankRow | undefined;
  if (last?.country !== '*' || last.currency !== '*')
    throw new Error('the last of rows must be of country * and currency *');
  return table as unknown as BankTable;
}

function checkRow(path: string, value: unknown): void {
  const row = objectAt(path, value, ['country', 'currency', 'groups', 'also', 'formats']);
  const country = textAt(`${path}.country`, row.country);
  if (!['SEPA', 'IBAN', '*'].includes(country) && !isCountry(country))
    throw new Error(`${path}.country ${A_COUNTRY}, SEPA, IBAN or *`);
  const currency = textAt(`${path}.currency`, row.currency);
  if (currency !== '*' && !isCurrency(currency)) throw new Error(`${path}.currency ${A_CURRENCY}, or *`);
  const groups = listAt(`${path}.groups`, row.groups);
  if (groups.length === 0) throw new Error(`${path}.groups must have at least one group`);
  for (const [index, group] of groups.entries()) {
    namesAt(`${path}.groups[${index}]`, group, ACCOUNT_DETAILS);
    if (listAt('', group).length === 0) throw new Error(`${path}.groups[${index}] must name at least one field`);
  }
  namesAt(`${path}.also`, row.also, ALSO_ASKED);
  const formats = objectAt(`${path}.formats`, row.formats, [], FORMATTED);
  for (const [field, format] of Object.entries(formats)) checkFormat(`${path}.formats.${field}`, format);
}

/** The most characters of a bank detail. */
export const MAX_DETAIL_CHARACTERS = 34;

function checkFormat(path: string, value: unknown): void {
  const format = objectAt(path, value, ['code'], ['digits', 'letters_digits', 'check', 'label']);
  if (Number(format.digits === undefined) + Number(format.letters_digits === undefined) !== 1)
    throw new Error(`${path} must have either digits or letters_digits`);
  const range = listAt(`${path}.digits`, format.digits ?? format.letters_digits);
  const [shortest, longest] = range as number[];
  const whole = range.length === 2 && range.every((each) => Number.isInteger(each));
  if (
    !whole ||
    !(1 <= Number(shortest) && Number(shortest) <= Number(longest) && Number(longest) <= MAX_DETAIL_CHARACTERS)
  )
    throw new Error(`${path} must have a shortest and a longest length from 1 to ${MAX_DETAIL_CHARACTERS}`);
  if (!DETAIL_CODES.some((code) => code === format.code))
    throw new Error(`${path}.code must be one of ${DETAIL_CODES.join(', ')}`);
  if (format.check !== undefined && !isCheck(format.check))
    throw new Error(`${path}.check must be a check that the service knows`);
  if (format.label !== undefined && /[|]|^\s*$/.test(textAt(`${path}.label`, format.label)))
    throw new Error(`${path}.label must be words without |`);
}

function objectAt(
  path: string,
  value: unknown,
  needed: readonly string[],
  possible: readonly string[] = [],
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${path} must be an object`);
  for (const name of needed) if (!Object.hasOwn(value, name)) throw new Error(`${path} must have ${name}`);
  for (const name of Object.keys(value))
    if (!needed.includes(name) && !possible.includes(name)) throw new Error(`${path} has no field ${name}`);
  return value as Record<string, unknown>;
}

function listAt(path: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${path} must be a list`);
  return value;
}

function textAt(path: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${path} must be a text`);
  return value;
}

function namesAt(path: string, value: unknown, known: readonly string[]): void {
  const names = listAt(path, value);
  const wrong = names.find((name) => !known.some((each) => each === name));
  if (wrong !== undefined) throw new Error(`${path} may name ${known.join(', ')}, not ${JSON.stringify(wrong)}`);
  if (new Set(names).size !== names.length) throw new Error(`${path} must name nothing twice`);
}

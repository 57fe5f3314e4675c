import { A_COUNTRY } from '../values/countries.ts';
import { A_CURRENCY } from '../values/currencies.ts';
import {
  ACCOUNT_DETAILS,
  type AccountDetail,
  type AlsoAsked,
  type BankRow,
  type BankTable,
  type DetailCode,
  type Format,
  type Formatted,
  isBankedIn,
  MAX_DETAIL_CHARACTERS,
  rowFor,
} from './bank-table.ts';
import { countryOfBic, isBic, isIban, passes } from './check-digits.ts';

/** The bank details that a payee can have. */
export const BANK_DETAILS = [...ACCOUNT_DETAILS, 'correspondent_account', 'correspondent_swift_code'] as const;
export type BankDetail = (typeof BANK_DETAILS)[number];

/**
 * The fields that are judged together: the bank's country, the account, and what its row requires. Texts are in electronic form; null means
 * not given.
 */
export type BankAccount = Record<BankDetail | AlsoAsked | 'bank_country_code' | 'bank_currency_code', string | null>;

/** The codes of faults of a bank account. */
export type BankFaultCode =
  | DetailCode
  | 'required'
  | 'invalid_iban'
  | 'invalid_bic'
  | 'iban_country_mismatch'
  | 'bic_country_mismatch'
  | 'details_disagree'
  | 'invalid_country'
  | 'invalid_currency';

/** A fault of a field. The message never repeats a bank detail. */
export interface BankFault {
  code: BankFaultCode;
  field: string;
  message: string;
}

/** A bank detail in the form in which it is checked and stored: without blanks and hyphens, in capital letters. */
export function electronic(text: string): string {
  return text.replace(/[\p{White_Space}\-\u2010-\u2015]/gu, '').toUpperCase();
}

const AN_IBAN = 'must be an IBAN with the length of its country and correct check digits';
const A_BIC = 'must be a BIC of 8 or 11 characters';
/** The form of a detail if the row says nothing about it. */
const ANY_FORM: Record<Formatted | 'correspondent_account', Format> = {
  account_number: { letters_digits: [1, MAX_DETAIL_CHARACTERS], code: 'invalid_account_number' },
  bank_identifier: { letters_digits: [1, MAX_DETAIL_CHARACTERS], code: 'invalid_bank_identifier' },
  correspondent_account: { letters_digits: [1, MAX_DETAIL_CHARACTERS], code: 'invalid_account_number' },
};

/**
 * Judges an account, with everything that the row of its country and currency requires.
 * @param faulty fields that have a fault already, such as an unknown country
 * @returns all faults, in the order of the fields of `BankAccount`; none if the account can be paid
 */
export function judgeAccount(
  table: BankTable,
  account: BankAccount,
  faulty: ReadonlySet<string> = new Set(),
): BankFault[] {
  const { bank_country_code: country, bank_currency_code: currency } = account;
  const row = country !== null && currency !== null ? rowFor(table, country, currency) : undefined;
  const faults = [
    ...(country === null ? [required('bank_country_code', A_COUNTRY)] : []),
    ...(currency === null ? [required('bank_currency_code', A_CURRENCY)] : []),
    ...detailFaults(account, row?.formats),
    ...(row ? missing(row, account) : []),
  ].filter(({ field }) => !faulty.has(field));
  const wrong = new Set([...faulty, ...faults.map(({ field }) => field)]);
  return [...faults, ...disagreements(account, wrong)];
}

/**
 * The faults of bank details on their own, whatever a row requires.
 * @param formats of the row, if it is known
 */
export function detailFaults(account: Partial<BankAccount>, formats: BankRow['formats'] = {}): BankFault[] {
  const country = account.bank_country_code ?? undefined;
  return [
    ...formFaults(account, 'account_number', formats.account_number),
    ...ibanFaults(account.iban ?? undefined, country),
    ...formFaults(account, 'bank_identifier', formats.bank_identifier),
    ...bicFaults('swift_code', account.swift_code ?? undefined, country),
    ...formFaults(account, 'correspondent_account'),
    ...bicFaults('correspondent_swift_code', account.correspondent_swift_code ?? undefined),
  ];
}

function required(field: string, what: string): BankFault {
  return { code: 'required', field, message: `is required, and ${what}` };
}

function formFaults(
  account: Partial<BankAccount>,
  field: keyof typeof ANY_FORM,
  format: Format = ANY_FORM[field],
): BankFault[] {
  const text = account[field] ?? undefined;
  if (text === undefined) return [];
  const [kind, letters, range] = format.digits
    ? (['digits', /^\d*$/, format.digits] as const)
    : (['letters and digits', /^[A-Z0-9]*$/, format.letters_digits ?? [1, MAX_DETAIL_CHARACTERS]] as const);
  const [shortest, longest] = range;
  const fits = letters.test(text) && shortest <= text.length && text.length <= longest;
  if (fits && (!format.check || passes(format.check, text))) return [];
  const length = shortest === longest ? String(shortest) : `${shortest} to ${longest}`;
  const called = format.label ? ` (${format.label})` : '';
  const checked = format.check ? CHECK_WORDS[format.check] : '';
  return [{ code: format.code, field, message: `must have ${length} ${kind}${checked}${called}` }];
}

const CHECK_WORDS: Record<NonNullable<Format['check']>, string> = {
  aba: ' with the right check digit',
  clabe: ' with the right check digit',
  ifsc: ': four letters, a zero, six letters or digits',
  leading_zero: ', the first a zero',
};

function ibanFaults(iban: string | undefined, country: string | undefined): BankFault[] {
  if (iban === undefined) return [];
  if (!isIban(iban)) return [{ code: 'invalid_iban', field: 'iban', message: AN_IBAN }];
  if (country === undefined || isBankedIn(iban.slice(0, 2), country)) return [];
  return [{ code: 'iban_country_mismatch', field: 'iban', message: 'must be an IBAN of bank_country_code' }];
}

function bicFaults(field: string, bic: string | undefined, country?: string): BankFault[] {
  if (bic === undefined) return [];
  if (!isBic(bic)) return [{ code: 'invalid_bic', field, message: A_BIC }];
  if (country === undefined || isBankedIn(countryOfBic(bic), country)) return [];
  return [{ code: 'bic_country_mismatch', field, message: 'must be a BIC of bank_country_code' }];
}

/** What the row requires and the account lacks. Of the groups, the one that is most nearly complete is reported. */
function missing({ groups, also }: BankRow, account: BankAccount): BankFault[] {
  const absent = (fields: readonly (AccountDetail | AlsoAsked)[]) => fields.filter((field) => account[field] === null);
  const lacks = groups.map(absent);
  const met = lacks.some((fields) => fields.length === 0);
  const share = (index: number) => 1 - (lacks[index]?.length ?? 0) / (groups[index]?.length ?? 1);
  const nearest = [...groups.keys()].reduce((best, index) => (share(index) > share(best) ? index : best), 0);
  const others = groups.filter((_, index) => index !== nearest).map((group) => group.join(' and '));
  const instead = others.length > 0 ? `, or ${others.join(', or ')}` : '';
  const ofGroup = met ? [] : (lacks[nearest] ?? []);
  return [
    ...ofGroup.map((field): BankFault => ({ code: 'required', field, message: `is required${instead}` })),
    ...absent(also).map(
      (field): BankFault => ({ code: 'required', field, message: 'is required for this bank country and currency' }),
    ),
  ];
}

/** Details beside an IBAN must be part of it, for GB at their exact place, because the IBAN is what is paid. */
function disagreements(account: BankAccount, wrong: ReadonlySet<string>): BankFault[] {
  const { iban } = account;
  if (iban === null || wrong.has('iban')) return [];
  const british = britishAccount(iban);
  return (['account_number', 'bank_identifier'] as const).flatMap((field) => {
    const text = account[field];
    if (text === null || wrong.has(field)) return [];
    const agrees = british ? british[field] === text : iban.slice(4).includes(text);
    return agrees ? [] : [{ code: 'details_disagree' as const, field, message: 'must be that of the IBAN' }];
  });
}

/** Sort code and account number of a GB IBAN; undefined for any other IBAN. */
export function britishAccount(iban: string): { bank_identifier: string; account_number: string } | undefined {
  if (!iban.startsWith('GB')) return undefined;
  return { bank_identifier: iban.slice(8, 14), account_number: iban.slice(14) };
}

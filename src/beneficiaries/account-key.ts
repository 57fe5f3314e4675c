import { britishAccount } from './bank-account.ts';
import { countryOfBic } from './check-digits.ts';

/** Columns that are derived from a payee's name and account, so that equal payees are found. */
export interface PayeeKeys {
  name_key: string;
  /** The account: its IBAN, or for GB sort code and number, or else its number. Null if there is none. */
  paid_account: string | null;
  /** If `paid_account` is a bare number: its bank identifier, its BIC with 11 characters, its bank's country. */
  paid_bank: string | null;
  paid_bic: string | null;
  paid_country: string | null;
}

interface Named {
  beneficiary_name: string;
  account_number?: string | null | undefined;
  iban?: string | null | undefined;
  bank_identifier?: string | null | undefined;
  swift_code?: string | null | undefined;
  bank_country_code?: string | null | undefined;
  currency?: string | null | undefined;
}

export const KEY_COLUMNS = ['name_key', 'paid_account', 'paid_bank', 'paid_bic', 'paid_country'] as const;

/** The keys of a payee. @param payee with electronic bank details */
export function keysOf(payee: Named): PayeeKeys {
  const { account_number: number, iban, bank_identifier: bank = null, swift_code: bic } = payee;
  const name = { name_key: nameKey(payee.beneficiary_name) };
  const alone = (account: string | null) => ({
    ...{ ...name, paid_account: account, paid_bank: null, paid_bic: null, paid_country: null },
  });
  const british = iban ? britishAccount(iban) : ofBritain(payee);
  if (british) return alone(`GB ${british.bank_identifier} ${british.account_number}`);
  if (iban) return alone(iban);
  if (!number) return alone(null);
  const country = payee.bank_country_code ?? (bic ? countryOfBic(bic) : null);
  return { ...name, paid_account: number, paid_bank: bank, paid_bic: bic ? fullBic(bic) : null, paid_country: country };
}

/** A canonical form in which equal names are the same: without case, with composed letters in one form, and with single blanks. */
export function nameKey(name: string): string {
  return name.trim().replace(/\s+/gu, ' ').normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** A BIC of eight characters names the head office, like one with the branch code of the head office (ISO 9362). */
function fullBic(bic: string): string {
  return bic.length === 8 ? `${bic}XXX` : bic;
}

const BRITISH = ['GB', 'GG', 'IM', 'JE'];

/**
 * Sort code and number given without an IBAN. The institution's payees may lack the bank's country; then the BIC or the currency shows that
 * it is GB.
 */
function ofBritain(payee: Named): { bank_identifier: string; account_number: string } | undefined {
  const { account_number: number = null, bank_identifier: bank = null, swift_code: bic } = payee;
  if (!number || !bank || !/^\d{8}$/.test(number) || !/^\d{6}$/.test(bank)) return undefined;
  const country = payee.bank_country_code ?? (bic ? countryOfBic(bic) : payee.currency === 'GBP' ? 'GB' : undefined);
  return country !== undefined && BRITISH.includes(country)
    ? { bank_identifier: bank, account_number: number }
    : undefined;
}

/** An SQL condition: two payees have the same account. @param one,other SQL of something with the columns of `PayeeKeys` */
export function sameAccount(one: string, other: string): string {
  const agrees = (column: string) =>
    `(${one}.${column} is null or ${other}.${column} is null or ${one}.${column} = ${other}.${column})`;
  return [`${one}.paid_account = ${other}.paid_account`, ...['paid_bank', 'paid_bic', 'paid_country'].map(agrees)].join(
    ' and ',
  );
}

/**
 * An SQL expression: whether the account of a payee is blocked. It is if any payee of the client with the same account is blocked, under
 * any name, in any currency, and even if deleted.
 * @param payee SQL of a row of the table `beneficiaries`
 * @param client SQL of its client
 */
export const accountBlocked = (payee: string, client = `${payee}.client_id`): string =>
  `(${payee}.blocked or exists (select from beneficiaries o
    where o.client_id = ${client} and o.blocked and ${sameAccount('o', payee)}))`;

import type { CallError } from '../../data/call-error.ts';
import type { Beneficiary, BeneficiaryNeeds, PayeeFields } from '../../data/payees.ts';

/** The fields that every payee has. */
const ALWAYS = ['name', 'country_code', 'bank_country_code', 'bank_currency_code'] as const;
/** The fields that a country and a currency may require, in the order of the form. */
const DETAILS = [
  'iban',
  'account_number',
  'bank_identifier',
  'swift_code',
  'address_line_1',
  'city',
  'state_region',
  'post_code',
  'purpose_of_payment',
  'reason_for_trade',
] as const;
type Detail = (typeof DETAILS)[number];

/** A field that the form asks for. */
export interface AskedField {
  name: Detail;
  /** The country's own name for it. */
  local: string | undefined;
  /** True if no group of mandatory fields contains it. */
  isOptional: boolean;
}

interface Asked {
  fields: AskedField[];
  /** The ways to identify the account, each by those of its fields that not all ways share. Empty if there is only one way. */
  ways: AskedField[][];
}

/** The fields that the form asks for, once the bank's country and the currency are chosen. */
export function askedFields(needs: readonly BeneficiaryNeeds[], country: string, currency: string): Asked {
  const all = needs.find((each) => each.country === country)?.currencies ?? [];
  const entry = currency === '' ? undefined : (all.find((each) => each.currency === currency) ?? all.at(-1));
  if (!entry) return { fields: [], ways: [] };
  const mandatory = entry.mandatory_data.flat();
  const named = [...mandatory, ...entry.optional_data].map((text) => text.split('|'));
  const fields = DETAILS.flatMap((name) => {
    const found = named.find(([first]) => first === name);
    if (!found) return [];
    return [{ name, local: found[1], isOptional: !mandatory.some((text) => text.split('|')[0] === name) }];
  });
  const groups = entry.mandatory_data.map((group) => group.map((text) => text.split('|')[0] ?? ''));
  const ways = groups.map((group) =>
    fields.filter(({ name }) => group.includes(name) && !groups.every((other) => other.includes(name))),
  );
  return { fields, ways: ways.length > 1 ? ways : [] };
}

/** The currencies for which some country has its own rules. */
export function namedCurrencies(needs: readonly BeneficiaryNeeds[]): string[] {
  return needs
    .flatMap(({ currencies }) => currencies.map(({ currency }) => currency))
    .filter((each) => each !== 'default');
}

/** The texts of the form: those of the payee, or empty ones. */
export function textsOf(payee: Beneficiary | undefined): PayeeFields {
  const given: Record<string, unknown> = { ...payee, ...payee?.bank_accounts[0] };
  return Object.fromEntries([...ALWAYS, ...DETAILS].map((name) => [name, String(given[name] ?? '')]));
}

/**
 * The fields to send. For a change, these are the changed ones; fields that the form no longer asks for are cleared.
 * @param before the texts that the form began with, if a payee is changed
 */
export function sentFields(texts: PayeeFields, asked: Asked, before: PayeeFields | undefined): PayeeFields {
  const shown: readonly string[] = [...ALWAYS, ...asked.fields.map(({ name }) => name)];
  const sent = [...ALWAYS, ...DETAILS].map((name) => [name, shown.includes(name) ? (texts[name] ?? '').trim() : '']);
  return Object.fromEntries(before ? sent.filter(([name = '', text]) => text !== before[name]) : sent);
}

/** The code of the first fault of each field of a refused body. */
export function faultsOf(error: CallError | undefined): Map<string, string> {
  if (!error || error.errors.length === 0) return new Map();
  return new Map([...error.faults].map(([field, { code }]) => [field, code]));
}

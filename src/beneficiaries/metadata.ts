import { COUNTRIES } from '../values/countries.ts';
import { ACCOUNT_DETAILS, ALSO_ASKED, type BankRow, type BankTable, fitsCountry } from './bank-table.ts';

/** What a payee needs for a currency in a country. */
interface CurrencyNeeds {
  /** A currency code, or `default` for currencies without an entry. */
  currency: string;
  /** Lists of field names; the payee must satisfy one list. A name may carry its local meaning: `bank_identifier|Sort Code`. */
  mandatory_data: string[][];
  optional_data: string[];
}

/** What payees need if their bank is in a country. */
export interface CountryNeeds {
  country: string;
  /** Whether some currency needs `reason_for_trade`. */
  reason_required: boolean;
  currencies: CurrencyNeeds[];
}

/** The needs of the table, by country. @param wanted one country, and one currency: then only the entry that decides */
export function describeNeeds(
  table: BankTable,
  { country, currency }: { country?: string | undefined; currency?: string | undefined },
): CountryNeeds[] {
  return (country === undefined ? COUNTRIES : [country]).map((code) => {
    const rows = rowsOf(table, code);
    const all = rows.map((row) => (row.currency === '*' ? describe(row, 'default') : describe(row, row.currency)));
    const decides = all.find((entry) => entry.currency === currency) ?? all.at(-1);
    return {
      country: code,
      reason_required: rows.some(({ also }) => also.includes('reason_for_trade')),
      currencies: currency === undefined ? all : all.filter((entry) => entry === decides),
    };
  });
}

/** The rows that decide for a country: one for each currency that has its own, and one for all others. */
function rowsOf(table: BankTable, country: string): BankRow[] {
  const fitting = table.rows.filter((row) => fitsCountry(table, row, country));
  const end = fitting.findIndex((row) => row.currency === '*') + 1;
  const reached = fitting.slice(0, end);
  return reached.filter((row, index) => reached.findIndex(({ currency }) => currency === row.currency) === index);
}

function describe({ groups, also, formats }: BankRow, currency: string): CurrencyNeeds {
  const labelled = (name: string) => {
    const label = Object.entries(formats).find(([field]) => field === name)?.[1].label;
    return label === undefined ? name : `${name}|${label}`;
  };
  const hasIban = groups.some((group) => group.includes('iban'));
  const mandatory = new Set<string>([...groups.flat(), ...also]);
  // Details that are within the IBAN add nothing.
  const details = ACCOUNT_DETAILS.filter((name) => name === 'swift_code' || (name === 'bank_identifier' && !hasIban));
  const optional = [...details, 'correspondent_account', 'correspondent_swift_code', ...BANK_TEXTS, ...ALSO_ASKED];
  return {
    currency,
    mandatory_data: groups.map((group) => [...group, ...also].map(labelled)),
    optional_data: optional.filter((name) => !mandatory.has(name)).map(labelled),
  };
}

const BANK_TEXTS = ['bank_name', 'bank_address_line_1'];

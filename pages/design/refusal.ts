import { useLanguage, useLocale, useOwnText } from '../texts/text.tsx';
import { formatMoney } from './money.tsx';

/** A refusal, or one fault of a file's row, as the service reports it. */
interface Refused {
  code: string;
  /** The service's sentence, without the path of the field. */
  details: string;
}

export type SayRefusal = (refused: Refused) => string;

/** The amounts in the service's sentences. Other languages say the same with them. */
const COVER = /^available: (?<available>-?[\d.]+), needed: (?<needed>[\d.]+), currency: (?<currency>[A-Z]{3})$/;
const AMOUNTS: Readonly<Record<string, RegExp>> = {
  insufficient_funds: COVER,
  trade_amount_exceeded: COVER,
  limit_exceeded:
    /the limit of the day is (?<limit>[\d.]+) (?<currency>[A-Z]{3}), and (?<left>[\d.]+) [A-Z]{3} is left$/,
  amount_out_of_range: /(?<amount>[\d.]+) (?<currency>[A-Z]{3}) must be at (?<bound>least|most) (?<limit>[\d.]+)$/,
};

/** Whether the sentence of this code is about amounts, and names no field. */
export function isOfAmounts(code: string): boolean {
  return code in AMOUNTS;
}

/**
 * A function that says in the person's language why the service refuses something. The service speaks English. A sentence that has no text
 * in the person's language stays as it is: it can still be read to the institution.
 */
export function useRefusal(): SayRefusal {
  const own = useOwnText();
  const language = useLanguage();
  const locale = useLocale();
  return ({ code, details }) => {
    if (language === 'en') return details;
    const amounts = AMOUNTS[code];
    if (!amounts) return own(`refusal.${code}`, { details }) ?? own(`payees.fault.${code}`) ?? details;
    const { currency, bound = '', ...found } = amounts.exec(details)?.groups ?? {};
    if (currency === undefined) return details;
    const shown = Object.entries(found).map(([name, amount = '0']) => [name, formatMoney(amount, currency, locale)]);
    return own(`refusal.${code}`, { bound, ...Object.fromEntries(shown) }) ?? details;
  };
}

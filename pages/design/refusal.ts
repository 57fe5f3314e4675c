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

/** A fault of a file's row: a refusal whose sentence may begin with the column. */
export interface Fault extends Refused {
  /** What it is in general. */
  message: string;
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
    if (!amounts) return own(`refusal.${code}`, { details }) ?? own(`fault.${code}`) ?? details;
    const { currency, bound = '', ...found } = amounts.exec(details)?.groups ?? {};
    if (currency === undefined) return details;
    const shown = Object.entries(found).map(([name, amount = '0']) => [name, formatMoney(amount, currency, locale)]);
    return own(`refusal.${code}`, { bound, ...Object.fromEntries(shown) }) ?? details;
  };
}

/** A function that says the column of a file and what is wrong with it, as far as the person's language can say it. */
export function useFault(): (fault: Fault) => string {
  const say = useRefusal();
  return ({ code, message, details }) => {
    const whole = say({ code, details });
    if (whole === details) return details === '' ? message : `${message} · ${details}`;
    const [, column, rest = ''] = /^(\w+): (.*)$/s.exec(details) ?? [];
    // A sentence about amounts names no field.
    return column === undefined || code in AMOUNTS ? whole : `${column}: ${say({ code, details: rest })}`;
  };
}

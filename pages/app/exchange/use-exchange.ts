import { useState } from 'react';
import { accountsQuery } from '../../data/accounts.ts';
import { readAmount } from '../../data/amount.ts';
import { CallError } from '../../data/call-error.ts';
import { liveKey } from '../../data/payments.ts';
import { askPrice, type Offer, type WantedExchange } from '../../data/quotes.ts';
import { bookQuote } from '../../data/trades.ts';
import { useRefusal } from '../../design/refusal.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { faultsOf } from '../trades/faults.ts';
import type { Booking } from './booked-exchange.tsx';

/** The texts of the form: those for the quote, and those for the booking. */
interface Texts {
  sell_currency: string;
  buy_currency: string;
  sell_amount: string;
  buy_amount: string;
  trade_type: WantedExchange['trade_type'];
  value_date: string;
  funding_account_id: string;
  reason: string;
}
type Field = keyof Texts;

const OF_BOOKING: readonly Field[] = ['funding_account_id', 'reason'];

/** The state of an exchange that is not booked yet: the form, the offer, and their errors. */
export function useExchange(clientId: string, sellCurrency: string, onBooked: (booking: Booking) => void) {
  const t = useText();
  const say = useRefusal();
  const locale = useLocale();
  const [texts, setTexts] = useState<Texts>({
    ...{ sell_currency: sellCurrency, buy_currency: '', sell_amount: '', buy_amount: '' },
    ...{ trade_type: 'spot', value_date: '', funding_account_id: '', reason: '' },
  });
  const [offer, setOffer] = useState<Offer>();
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const side = texts.buy_amount === '' ? 'sell' : 'buy';
  const asking = useAct(({ wanted, key }: { wanted: WantedExchange; key: string }) => askPrice(clientId, wanted, key));
  const booking = useAct(
    (id: string) => bookQuote(clientId, id, { reason: texts.reason, account: texts.funding_account_id }),
    [liveKey(clientId), accountsQuery(clientId).queryKey],
  );
  const placed = (error: Error) => faultsOf(error, { amount: `${side}_amount`, required: t('fault.required'), say });
  const told = (error: Error) => setFaults(placed(error));
  const ask = () => {
    if (asking.isPending || booking.isPending) return;
    const amount = readAmount(texts[`${side}_amount`], locale);
    const missing = new Map<string, string>();
    for (const name of ['sell_currency', 'buy_currency'] as const)
      if (texts[name] === '') missing.set(name, t('fault.required'));
    if (amount === undefined)
      missing.set(`${side}_amount`, t(texts[`${side}_amount`] === '' ? 'fault.required' : 'trades.fault.amount'));
    setOffer(undefined);
    booking.reset();
    asking.reset();
    setFaults(missing);
    if (amount === undefined || missing.size > 0) return;
    const { sell_currency, buy_currency, trade_type, value_date } = texts;
    const wanted = { sell_currency, buy_currency, trade_type, value_date, operation: side, amount } as const;
    asking.mutate({ wanted, key: crypto.randomUUID() }, { onSuccess: setOffer, onError: told });
  };
  const book = () => {
    if (booking.isPending || !offer || !('quote' in offer)) return;
    const { quote } = offer;
    setFaults(new Map());
    const account = texts.funding_account_id;
    booking.mutate(quote.quote_id, {
      onSuccess: (trade) => onBooked({ quote, trade, account }),
      onError: told,
    });
  };
  const change = (name: Field, value: string) => {
    const cleared = { sell_amount: { buy_amount: '' }, buy_amount: { sell_amount: '' } };
    const other = name === 'sell_currency' ? { funding_account_id: '' } : cleared[name as keyof typeof cleared];
    setTexts({ ...texts, ...other, [name]: value });
    setFaults(new Map([...faults].filter(([field]) => field !== name)));
    // The offer no longer matches what the form asks for.
    if (!OF_BOOKING.includes(name)) setOffer(undefined);
  };
  const field = (name: Field) => ({
    name,
    value: texts[name],
    error: faults.get(name),
    onChange: ({ target }: { target: { value: string } }) => change(name, target.value),
  });
  const error = booking.error ?? asking.error;
  return {
    ...{ texts, field, offer, ask, book, asking, booking },
    /** True if it is unknown whether the booking succeeded. It can be repeated, even after the quote has expired. */
    isUnclear: booking.error instanceof CallError && booking.error.status === 0,
    /** A refusal that no field of the form explains. */
    unplaced: error && placed(error).size === 0 ? error : undefined,
  };
}

import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Quote } from '../../data/quotes.ts';
import type { BookedTrade } from '../../data/trades.ts';
import { Button } from '../../design/button.tsx';
import { Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { useRichText, useText } from '../../texts/text.tsx';
import { PayingIn } from '../trades/paying-in.tsx';
import { TradeLink } from '../trades/trade-link.tsx';

/** A quote that was booked. */
export interface Booking {
  quote: Quote;
  trade: BookedTrade;
  /** The number of the account to debit; empty if there is none. */
  account: string;
}

/** The result of a booking: the trade, and where to pay in for it. */
export function BookedExchange({ booking, onAgain }: { booking: Booking; onAgain: () => void }): ReactNode {
  const t = useText();
  const rich = useRichText();
  const { quote, trade, account } = booking;
  const sold = { amount: decimal(quote, 'sell_amount'), currency: quote.sell_currency };
  return (
    <>
      <Status>
        {rich('exchange.booked', {
          trade: <TradeLink id={trade.trade_id} />,
          bought: <Money amount={decimal(quote, 'buy_amount')} currency={quote.buy_currency} />,
          sold: <Money {...sold} />,
        })}
      </Status>
      <PayingIn
        {...sold}
        bank={trade.bank_account}
        due={trade.maturity_date}
        reference={trade.reference_for_payment}
        account={account === '' ? null : Number(account)}
      />
      <div className="row">
        <Button onPress={onAgain}>{t('exchange.again')}</Button>
      </div>
    </>
  );
}

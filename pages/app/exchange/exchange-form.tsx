import { type ComponentProps, type FormEvent, Fragment, type ReactNode } from 'react';
import type { Currency } from '../../data/currencies.ts';
import type { WantedExchange } from '../../data/quotes.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useLanguage, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { currencyNames } from '../names.ts';
import { ReasonSelect } from '../reason-select.tsx';
import { FORWARD_REASONS, REASONS } from '../reasons.ts';
import { PayFrom } from '../trades/pay-from.tsx';
import type { Booking } from './booked-exchange.tsx';
import { useClosedMarkets } from './closed-markets.ts';
import { OfferCard } from './offer-card.tsx';
import { useExchange } from './use-exchange.ts';
import './exchange.css';

/** Maximum characters of an amount, including group separators. */
const MAX_AMOUNT_LENGTH = 40;

interface ExchangeFormProps {
  /** The currencies that the client may trade. */
  currencies: Currency[];
  onBooked: (booking: Booking) => void;
}

/** What to exchange, on which day and why; then the price and the booking. */
export function ExchangeForm({ currencies, onBooked }: ExchangeFormProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const first = currencies.find((each) => each.default && each.sell_allowed)?.currency;
  const exchange = useExchange(clientId, first ?? '', onBooked);
  const { field, texts, asking, offer, booking } = exchange;
  const closed = useClosedMarkets(texts.sell_currency !== '' && texts.buy_currency !== '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    exchange.ask();
  };
  const reasons = texts.trade_type === 'spot' ? REASONS : FORWARD_REASONS;
  return (
    <>
      <form className="card stack" onSubmit={submit} noValidate>
        <div className="fields exchange-fields">
          {(['sell', 'buy'] as const).map((side) => (
            <Fragment key={side}>
              <CurrencySelect
                {...field(`${side}_currency`)}
                label={t(`exchange.${side}_currency`)}
                codes={currencies.filter((each) => each[`${side}_allowed`])}
              />
              <TextField
                {...field(`${side}_amount`)}
                label={t(`exchange.${side}_amount`)}
                hint={t('exchange.oneSide')}
                inputMode="decimal"
                autoComplete="off"
                maxLength={MAX_AMOUNT_LENGTH}
              />
            </Fragment>
          ))}
          <Select {...field('trade_type')} label={t('exchange.trade_type')}>
            {(['spot', 'forward'] satisfies WantedExchange['trade_type'][]).map((type) => (
              <option key={type} value={type}>
                {t(`trades.type.${type}`)}
              </option>
            ))}
          </Select>
          <TextField
            {...field('value_date')}
            label={t('exchange.value_date')}
            hint={t('exchange.value_date.hint')}
            type="date"
          />
          <PayFrom {...field('funding_account_id')} currency={texts.sell_currency} />
          <ReasonSelect {...field('reason')} label={t('exchange.reason')} reasons={reasons} required />
        </div>
        <Status tone="warn">
          {closed &&
            !offer &&
            (closed.until ? t('exchange.closed.until', { time: closed.until }) : t('exchange.closed.now'))}
        </Status>
        <div className="row">
          <Button kind={offer ? 'second' : 'primary'} type="submit" isPending={asking.isPending}>
            {t('exchange.quote')}
          </Button>
        </div>
        {exchange.unplaced && <Failure error={exchange.unplaced} />}
      </form>
      {offer && (
        <OfferCard
          // A new offer starts a new countdown.
          key={'quote' in offer ? offer.quote.quote_id : 'estimate'}
          offer={offer}
          isBooking={booking.isPending}
          isUnclear={exchange.isUnclear}
          onBook={exchange.book}
        />
      )}
    </>
  );
}

function CurrencySelect({
  codes,
  ...field
}: ComponentProps<typeof Select> & { codes: readonly Currency[] }): ReactNode {
  const t = useText();
  const language = useLanguage();
  const named = currencyNames(
    codes.map(({ currency }) => currency),
    language,
  );
  return (
    <Select {...field} required>
      <option value="">{t('payees.choose')}</option>
      {named.map(([code, name]) => (
        <option key={code} value={code}>
          {name}
        </option>
      ))}
    </Select>
  );
}

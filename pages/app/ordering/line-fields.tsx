import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import { readAmount } from '../../data/amount.ts';
import { type DaysOf, daysQuery } from '../../data/ordering.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { formatDay } from '../../design/moment.tsx';
import { formatMoney } from '../../design/money.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { closedDay, cutoffWords } from './days.ts';
import { daysOf, type Line, type Source } from './draft.ts';
import './order.css';
import { PayeeField } from './payee-field.tsx';

interface LineFieldsProps {
  line: Line;
  /** Counted from 1; undefined if it is the only payment. */
  place: number | undefined;
  /** The currency of the payment. */
  currency: string | undefined;
  source: Source | undefined;
  /** The day on which the exchange that it needs settles. */
  settles: string | undefined;
  /** The error of a field, by its name. */
  faultOf: (field: string) => string | undefined;
  onChange: (fields: Partial<Line>) => void;
  onNewPayee: (() => void) | undefined;
  onRemove: () => void;
}

/** The person's own time zone. A cut-off in another zone names its city. */
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The fields of one payment of an order. */
export function LineFields(props: LineFieldsProps): ReactNode {
  const { line, place, currency, source, settles, faultOf, onChange, onNewPayee, onRemove } = props;
  const t = useText();
  const locale = useLocale();
  const amount = readAmount(line.amount, locale);
  const date = useDay({
    date: line.date,
    of: daysOf(line, { currency, source, locale, settles }),
    onFirst: (first) => onChange({ first }),
  });
  const text = (name: 'amount' | 'date' | 'reference' | 'charges') => ({
    value: line[name],
    error: faultOf(name),
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  return (
    <fieldset className="plain-fieldset card order-line">
      <legend className={place === undefined ? 'visually-hidden' : 'line-title'}>
        {t('order.line', { place: place ?? 1 })}
      </legend>
      {place !== undefined && (
        <Button kind="quiet" onPress={onRemove} aria-label={t('order.remove.one', { place })}>
          {t('order.remove')}
        </Button>
      )}
      <div className="order-fields">
        <div className="stack tight">
          <PayeeField payee={line.payee} error={faultOf('payee')} onChoose={(payee) => onChange({ payee })} />
          {onNewPayee && (
            <Button kind="quiet" onPress={onNewPayee}>
              {t('payees.new')}
            </Button>
          )}
        </div>
        <TextField
          {...text('amount')}
          name="amount"
          label={t('payments.field.amount')}
          hint={currency && (amount === undefined ? currency : formatMoney(amount, currency, locale))}
          inputMode="decimal"
          autoComplete="off"
          maxLength={40}
          required
        />
        <TextField
          {...text('date')}
          value={line.date || line.first}
          name="payment_date"
          label={t('payments.field.payment_date')}
          hint={date.hint}
          error={date.fault ?? faultOf('date')}
          type="date"
          min={line.first || undefined}
          max={date.latest}
          required
        />
        <TextField
          {...text('reference')}
          name="reference"
          label={t('payments.field.reference')}
          hint={t('order.reference.hint')}
          autoComplete="off"
          maxLength={140}
          required
        />
        <Select {...text('charges')} name="charges" label={t('payments.field.charges')}>
          {(['SHA', 'OUR'] as const).map((each) => (
            <option key={each} value={each}>
              {t(`order.charges.${each}`)}
            </option>
          ))}
        </Select>
      </div>
    </fieldset>
  );
}

interface DayOf {
  date: string;
  of: DaysOf | undefined;
  /** Called whenever the first possible day changes. */
  onFirst: (day: string) => void;
}

/** The days on which a payment can leave, in words. */
function useDay({ date, of, onFirst }: DayOf) {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const { data: days } = useQuery(daysQuery(clientId, of));
  const tellFirst = useEffectEvent(onFirst);
  const earliest = days?.earliest;
  useEffect(() => {
    if (earliest !== undefined) tellFirst(earliest);
  }, [earliest]);
  if (!days) return {};
  const said = cutoffWords(days, ZONE);
  const closed = date === '' ? undefined : closedDay(days, date);
  const isLater = date !== '' && date >= days.today && date < days.earliest;
  const hint = isLater
    ? t('order.day.moves', { day: formatDay(days.earliest, locale) })
    : days.late === 'maturity'
      ? t('order.day.maturity', { day: formatDay(days.earliest, locale) })
      : said && t(said.key, said.values);
  return { hint, fault: closed && t(closed.key, closed.values), latest: days.latest };
}

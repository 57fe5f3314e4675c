import { type ReactNode, useState } from 'react';
import type { PaymentOutlook } from '../../data/payments.ts';
import { addDecimals } from '../../data/sums.ts';
import { Button } from '../../design/button.tsx';
import { ValueBars } from '../../design/line-chart.tsx';
import { formatDay } from '../../design/moment.tsx';
import { formatMoney, Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';

/** Currencies shown at first: those with the most payments. */
const SHOWN = 6;

type Leaving = PaymentOutlook['leaving'][number];

/** What leaves in the next days. Amounts of different currencies never share a chart. */
export function LeavingPayments({ days, leaving }: PaymentOutlook): ReactNode {
  const t = useText();
  const [isAll, setAll] = useState(false);
  const ahead = days.length - 1;
  const groups = [...Map.groupBy(leaving, ({ currency }) => currency)].sort(([, a], [, b]) => countOf(b) - countOf(a));
  return (
    <section className="card stack" aria-labelledby="home-leaving">
      <h2 id="home-leaving">{t('home.leaving', { days: ahead })}</h2>
      {groups.length === 0 ? (
        <Empty title={t('home.leaving.none', { days: ahead })} />
      ) : (
        <div className="leaving">
          {groups.slice(0, isAll ? undefined : SHOWN).map(([currency, own]) => (
            <Currency key={currency} currency={currency} days={days} own={own} />
          ))}
        </div>
      )}
      {groups.length > SHOWN && (
        <div className="row">
          <Button kind="quiet" aria-expanded={isAll} onPress={() => setAll(!isAll)}>
            {isAll ? t('home.leaving.fewer') : t('home.leaving.more', { count: groups.length - SHOWN })}
          </Button>
        </div>
      )}
    </section>
  );
}

const countOf = (own: readonly Leaving[]) => own.reduce((sum, { count }) => sum + count, 0);

function Currency({ currency, days, own }: { currency: string; days: string[]; own: Leaving[] }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const sum = addDecimals(own.map(({ amount }) => amount));
  const points = days.map((day) => {
    const { amount = '0', count = 0 } = own.find((each) => each.day === day) ?? {};
    const money = formatMoney(amount, currency, locale);
    return {
      label: formatDay(day, locale),
      // For drawing only: the text keeps all digits.
      height: Number(amount),
      value: count === 0 ? money : `${money} · ${t('home.count', { count })}`,
    };
  });
  return (
    <div className="stack tight">
      <h3 className="row apart">
        <Money amount={sum} currency={currency} />
        <span className="small quiet">{t('home.count', { count: countOf(own) })}</span>
      </h3>
      <ValueBars
        name={t('home.leaving.name', { sum: formatMoney(sum, currency, locale), days: days.length - 1 })}
        points={points}
        columns={[t('accounts.day'), t('home.leaving.amount')]}
      />
    </div>
  );
}

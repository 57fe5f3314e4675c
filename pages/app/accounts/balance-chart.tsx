import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { balancesQuery } from '../../data/accounts.ts';
import { dateFormat } from '../../design/formats.ts';
import { LineChart } from '../../design/line-chart.tsx';
import { formatMoney } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';

/** The balance at the end of each of the last days. */
export function BalanceChart({ currency }: { currency: string }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(balancesQuery(clientId, currency));
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={3} />;
  const format = dateFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const points = data.map(({ day, balance }) => ({
    label: format.format(new Date(`${day}T00:00:00Z`)),
    // For drawing only: the text keeps all digits.
    height: Number(balance),
    value: formatMoney(balance, currency, locale),
  }));
  return (
    <LineChart
      name={t('accounts.chart', { days: data.length, balance: points.at(-1)?.value ?? '' })}
      points={points}
      columns={[t('accounts.day'), t('accounts.balance')]}
    />
  );
}

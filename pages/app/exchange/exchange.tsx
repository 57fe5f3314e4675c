import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { currenciesQuery } from '../../data/currencies.ts';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { BookedExchange, type Booking } from './booked-exchange.tsx';
import { ExchangeForm } from './exchange-form.tsx';

/** Exchanges money: the price, how long it holds, and the booking. */
export default function ExchangePage(): ReactNode {
  const t = useText();
  const { permissions } = useClient();
  return (
    <Page title={t('exchange.title')}>
      {permissions.includes('can_trade') ? (
        <Exchange />
      ) : (
        <Empty title={t('design.forbidden')}>{t('design.forbidden.text')}</Empty>
      )}
    </Page>
  );
}

function Exchange(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(currenciesQuery(clientId));
  const [booked, setBooked] = useState<Booking>();
  if (booked) return <BookedExchange booking={booked} onAgain={() => setBooked(undefined)} />;
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={6} />;
  const traded = data.filter(({ available_for_trading: is }) => is);
  if (traded.length === 0) return <Empty title={t('exchange.disabled')}>{t('exchange.disabled.text')}</Empty>;
  return <ExchangeForm currencies={traded} onBooked={setBooked} />;
}

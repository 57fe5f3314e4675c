import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { CallError } from '../../data/call-error.ts';
import { useLive } from '../../data/live.ts';
import { type TradeView, tradeQuery } from '../../data/trades.ts';
import { Button } from '../../design/button.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useRichText, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentPreview } from '../document.tsx';
import { DrawDown } from './draw-down.tsx';
import { Drawdowns } from './drawdowns.tsx';
import { PayingIn } from './paying-in.tsx';
import { TradeFacts } from './trade-facts.tsx';
import { TradeLink } from './trade-link.tsx';
import { TradePayments } from './trade-payments.tsx';
import { isOpen } from './trade-status.tsx';

/** A trade: its status, what is left of it, where to pay in, and the payments that it funds. */
export default function TradePage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { trade_id: id } = useParams({ strict: false }) as { trade_id: string };
  useLive(clientId);
  const { data, error, refetch } = useQuery(tradeQuery(clientId, id));
  if (error instanceof CallError && error.status === 404) return <NotFound />;
  const title = t('trades.one', { id });
  if (data) return <ShownTrade key={id} view={data} title={title} />;
  return (
    <Page title={title}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}</Page>
  );
}

function ShownTrade({ view, title }: { view: TradeView; title: string }): ReactNode {
  const t = useText();
  const rich = useRichText();
  const { client_id: clientId, permissions } = useClient();
  const navigate = useNavigate();
  const [drawn, setDrawn] = useState<string>();
  const { trade, funds, bank_account: bank } = view;
  const { trade_id: id, status, trade_type: type } = trade;
  const mayDraw = permissions.includes('can_trade') && type === 'window_forward' && isOpen(trade);
  const mayPay =
    permissions.includes('can_create_payments') &&
    isOpen(trade) &&
    !trade.single &&
    type !== 'window_forward' &&
    type !== 'ndf' &&
    !/^-|^[0.]+$/.test(funds.unallocated_amount);
  return (
    <Page
      title={title}
      actions={
        <>
          {mayPay && (
            <Button onPress={() => void navigate({ to: '/payments/new' as never, search: { trade_id: id } as never })}>
              {t('order.fromTrade')}
            </Button>
          )}
          {mayDraw && <DrawDown trade={trade} left={funds.unallocated_amount} onDone={setDrawn} />}
        </>
      }
    >
      <Status>{drawn !== undefined && rich('trades.drawn', { trade: <TradeLink id={drawn} /> })}</Status>
      <TradeFacts view={view} />
      {isOpen(trade) && !trade.single && (
        <PayingIn
          amount={decimal(trade, 'sell_amount')}
          currency={trade.sell_currency}
          bank={bank}
          due={trade.maturity_date}
          reference={id}
          account={trade.funding_account_id}
          isPaid={status !== 'Created' && status !== 'Funds In Partially'}
        />
      )}
      {type === 'window_forward' && <Drawdowns id={id} />}
      <TradePayments id={id} />
      <section className="card stack" aria-label={t('trades.receipt')}>
        <DocumentPreview clientId={clientId} kind="tr" id={id} name={`${t('trades.receipt')} ${id}`} />
      </section>
    </Page>
  );
}

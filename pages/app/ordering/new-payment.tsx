import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { type PaidBefore, paidBeforeQuery, sourcesQuery } from '../../data/ordering.ts';
import { type Beneficiary, payeeQuery } from '../../data/payees.ts';
import { formatAmount } from '../../design/money.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { type Draft, draftAgain, newLine, payableOf, type Source, sourceFor, sourcesOf } from './draft.ts';
import { OrderForm } from './order-form.tsx';
import { Ordered } from './ordered.tsx';
import { OrderReview } from './review.tsx';
import { type OrderedIds, type Review, useOrder } from './use-order.ts';

/** Orders payments: the form, the review, and the result. `again`, `trade_id` and `beneficiary_id` in the address prefill the form. */
export default function NewPaymentPage(): ReactNode {
  const t = useText();
  const { permissions } = useClient();
  const [orders, setOrders] = useState(0);
  return (
    <Page title={t('order.title')}>
      {permissions.includes('can_create_payments') ? (
        <Begun key={orders} isFirst={orders === 0} onAgain={() => setOrders(orders + 1)} />
      ) : (
        <Empty title={t('design.forbidden')}>{t('design.forbidden.text')}</Empty>
      )}
    </Page>
  );
}

/** Fetches the initial data of the form. */
function Begun({ isFirst, onAgain }: { isFirst: boolean; onAgain: () => void }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const address = useSearch({ strict: false }) as Search;
  const again = isFirst ? firstOf(address.again) : undefined;
  const { data, error, refetch } = useQuery(sourcesQuery(clientId));
  const before = useQuery({ ...paidBeforeQuery(clientId, again ?? ''), enabled: again !== undefined });
  const payeeId = isFirst ? firstOf(address.beneficiary_id) : undefined;
  const payee = useQuery({ ...payeeQuery(clientId, payeeId ?? ''), enabled: payeeId !== undefined });
  const failed = [{ error, refetch }, before, payee].find((each) => each.error);
  if (failed?.error) return <Failure error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!data || before.isLoading || payee.isLoading) return <Loading rows={8} />;
  const sources = sourcesOf(data);
  if (sources.size === 0) return <Empty title={t('order.noSource')}>{t('order.noSource.text')}</Empty>;
  const write = (amount: string) => formatAmount(amount, before.data?.payee?.currency ?? undefined, locale);
  return (
    <NewOrder
      sources={sources}
      first={firstDraft(sources, { before: before.data, payee: payee.data, trade: firstOf(address.trade_id), write })}
      onAgain={onAgain}
    />
  );
}

/** What the address names. */
interface Given {
  before: PaidBefore | undefined;
  payee: Beneficiary | null | undefined;
  trade: string | undefined;
  write: (amount: string) => string;
}

function firstDraft(sources: ReadonlyMap<string, Source>, { before, payee, trade, write }: Given): Draft {
  if (before) return draftAgain(before, sources, write);
  const named = [...sources].find(([, { kind, id }]) => kind === 'trade' && id === trade)?.[0];
  const only = sources.size === 1 ? [...sources.keys()][0] : undefined;
  const paid = payee ? payableOf(payee) : undefined;
  return { source: named ?? only ?? sourceFor(paid, sources), reason: '', lines: [newLine({ payee: paid })] };
}

interface NewOrderProps {
  sources: ReadonlyMap<string, Source>;
  first: Draft;
  onAgain: () => void;
}

function NewOrder({ sources, first, onAgain }: NewOrderProps): ReactNode {
  const [draft, setDraft] = useState(first);
  const [review, setReview] = useState<Review>();
  const [made, setMade] = useState<OrderedIds>();
  const order = useOrder({ onReviewed: setReview, onRefused: () => setReview(undefined), onOrdered: setMade });
  const source = sources.get(draft.source);
  if (made) return <Ordered made={made} onAgain={onAgain} />;
  if (!review) return <OrderForm draft={draft} sources={sources} order={order} onChange={setDraft} />;
  const renew = () => order.review({ draft, source, offer: undefined });
  // If no answer came, the same order is sent again; the service executes it once.
  const isUnclear = order.orderError instanceof CallError && order.orderError.status === 0;
  const isOver = () => !isUnclear && review.offer !== undefined && review.offer.untilMs <= Date.now();
  return (
    <OrderReview
      draft={draft}
      source={source}
      review={review}
      isPending={order.isOrdering || order.isPending}
      error={order.orderError}
      onBack={() => {
        order.forget();
        setReview(undefined);
      }}
      onRenew={renew}
      // An expired rate is never booked: the person sees the next one first.
      onCreate={() => (isOver() ? renew() : order.order(review))}
    />
  );
}

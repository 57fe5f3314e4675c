import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { IdLink, ListLink } from '../lists/links.tsx';
import { Named, NamedClient } from '../lists/named.tsx';
import { PaymentActions } from './actions.tsx';
import { useOrderFacts } from './order-facts.tsx';
import { PaymentState } from './payment-state.tsx';
import { Timeline } from './timeline.tsx';

type Payment = Answered<'GET /payments/{payment_id}'>;
type TimelineEntry = Answered<'GET /payments/{payment_id}/timeline'>[number];

/** How often the page is refreshed. */
const LIVE_MS = 4_000;

/** A payment: its facts, its whole history, and what the institution may do with it. */
export default function PaymentPage(): ReactNode {
  const t = useText();
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, refetch } = useQuery({
    queryKey: ['payment', id],
    queryFn: async ({ signal }) => {
      const path = { payment_id: id };
      const [payment, timeline] = await Promise.all([
        callOperator('GET /payments/{payment_id}', { path, signal }),
        callOperator('GET /payments/{payment_id}/timeline', { path, signal }),
      ]);
      return { payment: payment.body, timeline: timeline.body };
    },
    refetchInterval: LIVE_MS,
  });
  const title = t('console.payment.title', { id: visible(id) });
  if (!data)
    return <Page title={title}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}</Page>;
  const { payment, timeline } = data;
  return (
    <Page
      title={title}
      of={
        <span className="console-line">
          <Money amount={decimal(payment, 'amount')} currency={payment.payment_currency} />
          {payment.beneficiary_name && <ForeignText>{payment.beneficiary_name}</ForeignText>}
        </span>
      }
      actions={<PaymentActions payment={payment} isReturning={isReturning(timeline)} />}
    >
      <PaymentState payment={payment} timeline={timeline} isReturning={isReturning(timeline)} />
      <section className="card">
        <PaymentFacts payment={payment} />
      </section>
      <section className="card stack" aria-labelledby="timeline">
        <h2 id="timeline">{t('console.pay.timeline')}</h2>
        {timeline.length > 0 ? <Timeline entries={timeline} /> : <p className="quiet">{t('console.pay.nothing')}</p>}
      </section>
    </Page>
  );
}

/** The payment itself does not show that its return has started; its last action does. */
function isReturning(timeline: readonly TimelineEntry[]): boolean {
  const actions = timeline.filter(({ kind }) => kind === 'action') as (TimelineEntry & { action?: string })[];
  return actions.some(({ action }) => action === 'start_return') && !actions.some(({ action }) => action === 'return');
}

function PaymentFacts({ payment }: { payment: Payment }): ReactNode {
  const t = useText();
  const orderFacts = useOrderFacts();
  const foreign = (text: string | null | undefined) => (text ? <ForeignText>{text}</ForeignText> : null);
  return (
    <KnownFacts
      facts={[
        {
          name: t('console.col.amount'),
          value: <Money amount={decimal(payment, 'amount')} currency={payment.payment_currency} />,
        },
        {
          name: t('console.col.payee'),
          value: <Named to="payees" id={payment.beneficiary_id} name={payment.beneficiary_name} />,
        },
        {
          name: t('console.col.iban'),
          value: payment.iban ? <Iban>{payment.iban}</Iban> : foreign(payment.account_number),
        },
        { name: t('console.col.reference'), value: foreign(payment.reference) },
        { name: t('console.col.client'), value: <NamedClient id={payment.client_id} /> },
        {
          name: t('console.col.creator'),
          value: <Named to="contacts" id={payment.contact_id} name={payment.ordered_by_name} />,
        },
        { name: t('console.col.date'), value: <Day on={payment.payment_date} /> },
        { name: t('console.col.created'), value: <Moment at={payment.created_date} /> },
        { name: t('console.col.trade'), value: <IdLink to="trades" id={payment.trade_id} /> },
        ...orderFacts(payment),
        { name: t('console.col.uetr'), value: <code>{payment.uuid}</code> },
        {
          name: t('console.nav.notifications'),
          value: (
            <ListLink to="/notifications" search={{ payment_id: payment.payment_id }}>
              {t('console.show')}
            </ListLink>
          ),
        },
      ]}
    />
  );
}

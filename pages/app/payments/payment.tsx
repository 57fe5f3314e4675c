import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CallError } from '../../data/call-error.ts';
import { useLive } from '../../data/live.ts';
import { type PaymentView, paymentQuery } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Approvals } from './approvals.tsx';
import { useDecision } from './decision.tsx';
import { PaymentDocuments } from './documents.tsx';
import { PaymentFacts } from './facts.tsx';
import { PaymentNotifications } from './notifications.tsx';
import { PaymentSteps } from './steps.tsx';
import { PaymentSummary } from './summary.tsx';
import './payment.css';

/** A payment: its facts, its status, and what the person may do with it. */
export default function PaymentPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { payment_id: id } = useParams({ strict: false }) as { payment_id: string };
  useLive(clientId);
  const { data, error, refetch } = useQuery(paymentQuery(clientId, id));
  if (error instanceof CallError && error.status === 404) return <NotFound />;
  const title = t('payments.one', { id });
  if (data) return <ShownPayment key={id} view={data} title={title} />;
  return (
    <Page title={title}>{error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}</Page>
  );
}

function ShownPayment({ view, title }: { view: PaymentView; title: string }): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const { payment, explanation, way } = view;
  const navigate = useNavigate();
  const { actions, result, dialog } = useDecision(view);
  const again = permissions.includes('can_create_payments') && (
    <Button
      onPress={() => void navigate({ to: '/payments/new' as never, search: { again: payment.payment_id } as never })}
    >
      {t('order.payAgain')}
    </Button>
  );
  return (
    <Page
      title={title}
      actions={
        <>
          {again}
          {actions}
        </>
      }
    >
      {result}
      <PaymentSummary view={view} />
      <div className="payment-columns">
        <div className="stack">
          <Approvals payment={payment} explanation={explanation} />
          <PaymentFacts payment={payment} />
          <PaymentDocuments clientId={clientId} payment={payment} />
        </div>
        <div className="stack">
          <PaymentSteps payment={payment} way={way} />
          <PaymentNotifications notifications={way.notifications} />
        </div>
      </div>
      {dialog}
    </Page>
  );
}

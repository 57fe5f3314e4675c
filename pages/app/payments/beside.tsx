import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLive } from '../../data/live.ts';
import { type PaymentView, paymentQuery } from '../../data/payments.ts';
import { Icon } from '../../design/icon.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Approvals } from './approvals.tsx';
import { useDecision } from './decision.tsx';
import { PaymentFacts } from './facts.tsx';
import { PaymentLink } from './payment-link.tsx';
import { PaymentSteps } from './steps.tsx';
import { PaymentSummary } from './summary.tsx';
import './beside.css';

/** A payment beside the list that it was chosen from: what a person needs to work through the list. */
export function BesidePayment({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  useLive(clientId);
  const { data, error, refetch } = useQuery(paymentQuery(clientId, id));
  return (
    <aside className="beside" aria-label={t('payments.one', { id })}>
      <div className="row apart beside-head">
        <h2>
          <PaymentLink id={id} />
        </h2>
        <button type="button" className="button quiet" aria-label={t('payments.beside.close')} onClick={onClose}>
          <Icon name="x" />
        </button>
      </div>
      {data && data.payment.payment_id === id && <Shown key={id} view={data} />}
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />)}
    </aside>
  );
}

function Shown({ view }: { view: PaymentView }): ReactNode {
  const { client_id: clientId } = useClient();
  const queries = useQueryClient();
  const { payment, explanation, way } = view;
  // The list beside it is not live, so it is refreshed at once after a decision here.
  const decided = () => void queries.invalidateQueries({ queryKey: ['search', clientId] });
  const { actions, result, dialog } = useDecision(view, decided);
  return (
    <div className="stack">
      {actions}
      {result}
      <PaymentSummary view={view} />
      <PaymentSteps payment={payment} way={way} />
      <Approvals payment={payment} explanation={explanation} />
      <PaymentFacts payment={payment} />
      {dialog}
    </div>
  );
}

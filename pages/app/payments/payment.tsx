import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { useLive } from '../../data/live.ts';
import { nextWaitingQuery, type PaymentView, paymentQuery } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { type Decided, DecisionDialog } from '../decide/decision-dialog.tsx';
import { OutcomeText } from '../decide/outcome.tsx';
import { Approvals } from './approvals.tsx';
import { PaymentDocuments } from './documents.tsx';
import { PaymentFacts } from './facts.tsx';
import { ExplainedMarks } from './marks.tsx';
import { PaymentNotifications } from './notifications.tsx';
import { Amount, PayeeAccount } from './payee.tsx';
import { PaymentStatus } from './status.tsx';
import { PaymentSteps } from './steps.tsx';
import './payment.css';

/** A payment: what it is, how it stands, and what one may do with it. */
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
  const { client_id: clientId } = useClient();
  const { payment, explanation, way, marks } = view;
  const [asked, ask] = useState<Decided>();
  const [done, setDone] = useState<Decided>();
  const { allowed } = payment.approvals_workflow.contact_authorisation_actions;
  const finish = (action: Decided) => {
    ask(undefined);
    setDone(action);
  };
  const waits = payment.status === 'Payment pending of authorization';
  return (
    <Page title={title} actions={<Actions allowed={allowed} onAsk={ask} />}>
      <Status>
        {done && (
          <>
            <p>
              {t(`payments.done.${done}`, { remaining: waits ? explanation.minimum_remaining_authorisations : 0 })}{' '}
              <Link to={'/approvals' as never}>{t('payments.done.next')}</Link>
            </p>
            <NextPayment />
          </>
        )}
      </Status>
      <section className="card payment-head" aria-label={t('payments.summary')}>
        <div className="stack tight">
          <p className="payment-amount">
            <Amount payment={payment} />
          </p>
          <p>
            {t('payments.to')}{' '}
            <strong>
              <ForeignText>{payment.beneficiary_name}</ForeignText>
            </strong>
          </p>
          <PayeeAccount payment={payment} />
          <p className="quiet">
            {t('payments.by')} <ForeignText>{payment.ordered_by_name}</ForeignText>
          </p>
        </div>
        <div className="stack tight payment-state">
          <PaymentStatus status={payment.status} />
          {!waits && (
            <p className="small">
              <OutcomeText outcome={way.outcome} />
            </p>
          )}
          <ExplainedMarks marks={marks} />
        </div>
      </section>
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
      {asked && <DecisionDialog view={view} action={asked} onBack={() => ask(undefined)} onDone={finish} />}
    </Page>
  );
}

/** The way to the payment that waits next for the person: whoever decides about one mostly decides about several. */
function NextPayment(): ReactNode {
  const t = useText();
  const { data: payment } = useQuery(nextWaitingQuery(useClient().client_id));
  if (!payment) return null;
  return (
    <p className="payment-next">
      <Link
        className="button"
        to={'/payments/$payment_id' as never}
        params={{ payment_id: payment.payment_id } as never}
      >
        {t('payments.done.following', { id: payment.payment_id })}
      </Link>{' '}
      <Amount payment={payment} /> · <ForeignText>{payment.beneficiary_name}</ForeignText>
    </p>
  );
}

const ACTIONS = ['authorise', 'reject', 'cancel'] as const;
const KINDS = { authorise: 'primary', reject: 'danger', cancel: 'second' } as const;

/** What one may do now. Where an act falls away its place stays empty: no other button comes under a finger that was about to press. */
function Actions({ allowed, onAsk }: { allowed: readonly Decided[]; onAsk: (action: Decided) => void }): ReactNode {
  const t = useText();
  const seen = useRef(new Set<Decided>());
  for (const action of allowed) seen.current.add(action);
  if (seen.current.size === 0) return null;
  return (
    <div className="row payment-actions">
      {ACTIONS.filter((action) => seen.current.has(action)).map((action) =>
        allowed.includes(action) ? (
          <Button key={action} kind={KINDS[action]} onPress={() => onAsk(action)}>
            {t(`payments.act.${action}`)}
          </Button>
        ) : (
          <span key={action} className="button payment-place" aria-hidden="true">
            {t(`payments.act.${action}`)}
          </span>
        ),
      )}
    </div>
  );
}

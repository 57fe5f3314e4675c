import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { nextWaitingQuery, type PaymentView } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Status } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { type Decided, DecisionDialog } from '../decide/decision-dialog.tsx';
import { Amount } from './payee.tsx';
import './decision.css';

interface Decision {
  /** Buttons for what the person may do now; null if the person could never do anything. */
  actions: ReactNode;
  /** The result of the last act. */
  result: ReactNode;
  /** The dialog that asks first. */
  dialog: ReactNode;
}

/** What a person may decide about an open payment. @param onDecided is also called, if the payment is shown in a list */
export function useDecision(view: PaymentView, onDecided?: () => void): Decision {
  const t = useText();
  const { payment, explanation } = view;
  const [asked, ask] = useState<Decided>();
  const [done, setDone] = useState<Decided>();
  const finish = (action: Decided) => {
    ask(undefined);
    setDone(action);
    onDecided?.();
  };
  const waits = payment.status === 'Payment pending of authorization';
  return {
    actions: <Actions allowed={payment.approvals_workflow.contact_authorisation_actions.allowed} onAsk={ask} />,
    result: (
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
    ),
    dialog: asked && <DecisionDialog view={view} action={asked} onBack={() => ask(undefined)} onDone={finish} />,
  };
}

/** A link to the next payment that waits for the person: people usually decide about several. */
function NextPayment(): ReactNode {
  const t = useText();
  const { data: payment } = useQuery(nextWaitingQuery(useClient().client_id));
  if (!payment) return null;
  return (
    <p className="payment-next">
      <Link to={'/payments/$payment_id' as never} params={{ payment_id: payment.payment_id } as never}>
        {t('payments.done.following', { id: payment.payment_id })}
      </Link>{' '}
      <Amount payment={payment} /> · <ForeignText>{payment.beneficiary_name}</ForeignText>
    </p>
  );
}

const ACTIONS = ['authorise', 'reject', 'cancel'] as const;
const KINDS = { authorise: 'primary', reject: 'danger', cancel: 'second' } as const;

/** The acts that are possible now. A removed act leaves a gap, so that no other button moves under a finger about to press. */
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

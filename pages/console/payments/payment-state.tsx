import type { ReactNode } from 'react';
import type { PaymentStatus } from '../../../src/payments/moves.ts';
import type { Answered } from '../../data/operator-api.ts';
import type { Tone } from '../../design/badge.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { Actor, State } from '../lists/links.tsx';

type Payment = Answered<'GET /payments/{payment_id}'>;
type TimelineEntry = Answered<'GET /payments/{payment_id}/timeline'>[number];

/** What happened to it, as far as it says who did it and why. */
type Deed = TimelineEntry & {
  action?: string;
  decision?: string;
  actor?: string | null;
  contact_name?: string | null;
  reason?: string | null;
};

/** How a payment stands: its status, or what its status does not tell apart. */
type Standing = PaymentStatus | 'invalidated' | 'returning' | 'returned';

const STANDINGS: Record<Standing, { tone: Tone; text: TextKey; advice?: TextKey }> = {
  'Payment pending of authorization': { tone: 'info', text: 'console.state.pending' },
  'Validating beneficiary information': { tone: 'info', text: 'console.state.validating' },
  'Need more beneficiary information': {
    ...{ tone: 'warn', text: 'console.state.information', advice: 'console.state.information.do' },
  },
  'Waiting for payment date': { tone: 'info', text: 'console.state.waiting' },
  'Executing Payment': { tone: 'info', text: 'console.state.executing' },
  'Payment complete': { tone: 'good', text: 'console.state.complete' },
  'Payment rejected': { tone: 'bad', text: 'console.state.rejected', advice: 'console.state.again' },
  'Payment cancelled': { tone: 'warn', text: 'console.state.cancelled', advice: 'console.state.again' },
  invalidated: { tone: 'bad', text: 'console.state.invalidated', advice: 'console.state.again' },
  returning: { tone: 'warn', text: 'console.state.returning' },
  returned: { tone: 'bad', text: 'console.state.returned', advice: 'console.state.again' },
};

/** The acts after which a caller asks why. */
const ENDS: readonly string[] = ['reject', 'cancel', 'invalidate', 'start_return', 'return', 'request_information'];

/** How a payment stands, who decided it and why, and what to tell the caller: the answer to most questions about a payment. */
export function PaymentState({
  payment,
  timeline,
  isReturning,
}: {
  payment: Payment;
  timeline: readonly TimelineEntry[];
  isReturning: boolean;
}): ReactNode {
  const t = useText();
  const deeds = (timeline as readonly Deed[]).filter(
    ({ action, decision, kind }) =>
      (kind === 'action' && ENDS.includes(action ?? '')) || (kind === 'approval' && decision === 'reject'),
  );
  const standing = STANDINGS[standingOf(payment, deeds, isReturning)];
  const isDecided = standing.advice !== undefined || isReturning;
  return (
    <section className={`notice stack tight ${standing.tone}`} aria-label={t('console.col.status')}>
      <p className="row">
        <State>{payment.status}</State>
        <strong>{t(standing.text)}</strong>
        {payment.status === 'Payment pending of authorization' && (
          <span>{t('console.pay.waits', { count: payment.approvals_workflow.minimum_remaining_authorisations })}</span>
        )}
      </p>
      {isDecided && <Decision payment={payment} deeds={deeds} />}
      {standing.advice && <p>{t(standing.advice)}</p>}
    </section>
  );
}

function standingOf({ status }: Payment, deeds: readonly Deed[], isReturning: boolean): Standing {
  if (isReturning) return 'returning';
  if (status !== 'Payment cancelled') return status;
  const last = deeds.at(-1)?.action;
  return last === 'invalidate' ? 'invalidated' : last === 'return' ? 'returned' : status;
}

/** Who decided it, when, and the reason in their words. */
function Decision({ payment, deeds }: { payment: Payment; deeds: readonly Deed[] }): ReactNode {
  const t = useText();
  const last = deeds.at(-1);
  // A person decides through an approval; the act beside it only has whoever passed it on.
  const who = deeds.findLast(({ at, contact_name: name }) => name && at === last?.at)?.contact_name ?? undefined;
  const reason = deeds.findLast(({ reason: given }) => given)?.reason ?? payment.decision_reason;
  return (
    <dl className="console-why">
      <div>
        <dt>{t('console.col.reason')}</dt>
        <dd>{reason ? <ForeignText>{reason}</ForeignText> : t('console.state.noReason')}</dd>
      </div>
      {last && (
        <div>
          <dt>{t('console.state.by')}</dt>
          <dd className="console-line">
            {who ? <ForeignText>{who}</ForeignText> : <Actor>{last.actor ?? ''}</Actor>}
            <Moment at={last.at} />
          </dd>
        </div>
      )}
    </dl>
  );
}

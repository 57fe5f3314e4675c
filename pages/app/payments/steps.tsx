import type { ReactNode } from 'react';
import type { Payment, PaymentView } from '../../data/payments.ts';
import { Moment } from '../../design/moment.tsx';
import { type Step, Steps } from '../../design/steps.tsx';
import { useText } from '../../texts/text.tsx';
import { OutcomeText } from '../decide/outcome.tsx';
import { STATUS_TEXTS } from './status.tsx';

type Status = Payment['status'];

/** The usual way of a payment. A payment that needs no approval starts at the second step. */
const WAY: Status[] = [
  'Payment pending of authorization',
  'Validating beneficiary information',
  'Waiting for payment date',
  'Executing Payment',
  'Payment complete',
];
const ENDS: Status[] = ['Payment complete', 'Payment rejected', 'Payment cancelled'];

interface Taken {
  status: Status;
  at: string | null;
}

/** The steps of an imported payment, which has no history here: only what its own fields say. */
function toldBy(payment: Payment, sentAt: string | null): Taken[] {
  const { status, authorised_date: approvedAt, rejected_date: rejectedAt, cancelled_date: cancelledAt } = payment;
  const told: Taken[] = [];
  if (approvedAt) told.push({ status: 'Validating beneficiary information', at: approvedAt });
  if (sentAt) told.push({ status: 'Executing Payment', at: sentAt });
  if (told.at(-1)?.status !== status) told.push({ status, at: rejectedAt ?? cancelledAt });
  return told;
}

/** The status of a payment as steps, with the times of those taken, and the steps left. */
export function PaymentSteps({ payment, way }: { payment: Payment; way: PaymentView['way'] }): ReactNode {
  const t = useText();
  const { status } = payment;
  const known = way.steps.length > 0 ? (way.steps as Taken[]) : toldBy(payment, way.sent_date);
  const taken = known.at(-1)?.status === status ? known : [...known, { status, at: null }];
  const ends = ENDS.includes(status);
  const failed = status === 'Payment rejected' || status === 'Payment cancelled';
  const made: Step = { title: t('payments.step.made'), state: 'done', detail: <Moment at={payment.created_date} /> };
  const past = taken.map(({ status: each, at }, index): Step => {
    const isLast = index === taken.length - 1;
    const decided = isLast && failed;
    return {
      title: t(STATUS_TEXTS[each]),
      state: decided ? 'failed' : isLast && !ends ? 'now' : 'done',
      detail: decided ? <OutcomeText outcome={way.outcome} /> : <Moment at={at} />,
    };
  });
  const left = ends
    ? []
    : WAY.slice(WAY.indexOf(status === 'Need more beneficiary information' ? (WAY[1] as Status) : status) + 1);
  return (
    <section className="card stack" aria-labelledby="payment-steps">
      <h2 id="payment-steps">{t('payments.steps')}</h2>
      <Steps
        name={t('payments.steps')}
        steps={[made, ...past, ...left.map((each): Step => ({ title: t(STATUS_TEXTS[each]), state: 'later' }))]}
      />
    </section>
  );
}

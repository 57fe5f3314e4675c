import type { ReactNode } from 'react';
import type { PaymentOutcome } from '../../data/payments.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { useRichText, useText } from '../../texts/text.tsx';

/** How a payment was decided, by whom, when and why, for a person who came too late. */
export function OutcomeText({ outcome }: { outcome: PaymentOutcome | null }): ReactNode {
  const t = useText();
  const rich = useRichText();
  if (!outcome) return t('decide.outcome.missing');
  const { status, by, at, reason } = outcome;
  if (status === 'Payment pending of authorization') return t('decide.outcome.pending');
  const kind = status === 'Payment rejected' ? 'rejected' : status === 'Payment cancelled' ? 'cancelled' : 'approved';
  const said = rich(by === null ? `decide.outcome.${kind}.institution` : `decide.outcome.${kind}`, {
    name: <ForeignText>{by}</ForeignText>,
    at: <Moment at={at} />,
  });
  return (
    <>
      {said}
      {reason && (
        <>
          {' '}
          <q>
            <ForeignText>{reason}</ForeignText>
          </q>
        </>
      )}
    </>
  );
}

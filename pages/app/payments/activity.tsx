import type { ReactNode } from 'react';
import type { RecentActivity } from '../../data/payments.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useRichText } from '../../texts/text.tsx';
import { PaymentLink } from './payment-link.tsx';
import './activity.css';

type What = RecentActivity['what'];

/** The events that end a payment's wait for approval. */
export const DECIDED: ReadonlySet<string> = new Set<What>(['AUTHORIZED', 'REJECTED', 'CANCELLED', 'INVALIDATED']);

/** What happened, and who did it, in a few words. */
export function ActivityText({ entry: { what, by } }: { entry: RecentActivity }): ReactNode {
  const rich = useRichText();
  const person =
    by !== null &&
    (what === 'PENDING_OF_AUTHORIZATION' || what === 'AUTHORIZED' || what === 'REJECTED' || what === 'CANCELLED');
  return person
    ? rich(`payments.activity.${what}.by`, { name: <ForeignText>{by}</ForeignText> })
    : rich(`payments.activity.${what}`, {});
}

/** Recent events of payments. @param isOfDay the day is shown above, so that the time is enough */
export function ActivityList({ entries, isOfDay }: { entries: RecentActivity[]; isOfDay?: boolean }): ReactNode {
  return (
    <ul className="plain stack tight">
      {entries.map((entry) => (
        <li key={`${entry.payment_id} ${entry.what} ${entry.at}`} className="activity">
          <span className="activity-what">
            <PaymentLink id={entry.payment_id} /> <ActivityText entry={entry} />
            {entry.reason && (
              <>
                {' '}
                <q className="small">
                  <ForeignText>{entry.reason}</ForeignText>
                </q>
              </>
            )}
          </span>
          <span className="small quiet activity-payment" title={visible(entry.beneficiary_name)}>
            <Money amount={entry.amount} currency={entry.payment_currency} /> ·{' '}
            <ForeignText>{entry.beneficiary_name}</ForeignText>
          </span>
          <span className="small quiet">
            <Moment at={entry.at} isTime={isOfDay ?? false} />
          </span>
        </li>
      ))}
    </ul>
  );
}

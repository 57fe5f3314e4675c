import type { ReactNode } from 'react';
import type { BulkOutcome } from '../../data/payments.ts';
import { Status } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { OutcomeText } from '../decide/outcome.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';

/** The result of an approval of several payments: how many, and why each failed one failed. For a single payment it is a text. */
export function BulkResult({ outcome }: { outcome: BulkOutcome | string | undefined }): ReactNode {
  const t = useText();
  if (outcome === undefined || typeof outcome === 'string') return <Status>{outcome}</Status>;
  const { approved, failed } = outcome;
  return (
    <Status tone={failed.length > 0 ? 'warn' : 'good'}>
      <p>
        <strong>{t('approvals.result', { approved: approved.length, failed: failed.length })}</strong>
      </p>
      {failed.length > 0 && (
        <ul className="plain">
          {failed.map((failure) => (
            <li key={failure.payment_id}>
              <PaymentLink id={failure.payment_id} />: <Why failure={failure} />
            </li>
          ))}
        </ul>
      )}
    </Status>
  );
}

function Why({ failure: { code, details, outcome } }: { failure: BulkOutcome['failed'][number] }): ReactNode {
  const t = useText();
  if (code === 'permission_denied') return t('decide.refused.permission');
  if (outcome && outcome.status !== 'Payment pending of authorization') return <OutcomeText outcome={outcome} />;
  if (code === 'approval_not_allowed') return t('approvals.notYours');
  return outcome ? details : <OutcomeText outcome={null} />;
}

import type { ReactNode } from 'react';
import type { PaymentMarks } from '../../data/payments.ts';
import { Badge } from '../../design/badge.tsx';
import { Moment } from '../../design/moment.tsx';
import { useRichText, useText } from '../../texts/text.tsx';
import './marks.css';

function isMarked(marks: PaymentMarks | undefined): marks is PaymentMarks {
  return marks !== undefined && (marks.first_payment || marks.payee_changed !== null || marks.due !== null);
}

/** What an approver should check twice, in a few words. */
export function Marks({ marks }: { marks: PaymentMarks | undefined }): ReactNode {
  const t = useText();
  if (!isMarked(marks)) return null;
  return (
    <span className="marks">
      {marks.first_payment && <Badge tone="warn">{t('payments.mark.first')}</Badge>}
      {marks.payee_changed && <Badge tone="warn">{t('payments.mark.changed')}</Badge>}
      {marks.due === 'today' && <Badge tone="info">{t('payments.mark.today')}</Badge>}
      {marks.due === 'past' && <Badge tone="bad">{t('payments.mark.past')}</Badge>}
    </span>
  );
}

/** The marks with their meaning: what was changed, and when. */
export function ExplainedMarks({ marks }: { marks: PaymentMarks | undefined }): ReactNode {
  const t = useText();
  const rich = useRichText();
  if (!isMarked(marks)) return null;
  return (
    <div className="stack tight">
      <Marks marks={marks} />
      {marks.first_payment && <p className="small">{t('payments.mark.first.why')}</p>}
      {marks.payee_changed && (
        <p className="small">
          {rich('payments.mark.changed.why', {
            fields: marks.payee_changed.fields.map((field) => t(`payments.field.${field}`)).join(', '),
            at: <Moment at={marks.payee_changed.at} />,
          })}
        </p>
      )}
    </div>
  );
}

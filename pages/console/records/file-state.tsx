import type { ReactNode } from 'react';
import type { MassStatus } from '../../../src/orders/mass/declaration.ts';
import type { Answered } from '../../data/operator-api.ts';
import type { Tone } from '../../design/badge.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useRefusal } from '../../design/refusal.ts';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { State } from '../lists/links.tsx';

type File = Answered<'GET /mass-payments/{mass_payment_id}'>;

/** What a status means, and who must act next. */
const MEANINGS: Record<MassStatus, TextKey> = {
  'Queued for processing': 'console.file.state.queued',
  Processing: 'console.file.state.judging',
  Processed: 'console.file.state.judged',
  'Queued for creating': 'console.file.state.confirmed',
  Creating: 'console.file.state.creating',
  Created: 'console.file.state.created',
  Cancelled: 'console.file.state.cancelled',
  Failed: 'console.file.state.failed',
};
/** What to tell the client about rows that failed. */
const ADVICE: Partial<Record<MassStatus, TextKey>> = {
  Processed: 'console.file.state.choose',
  Created: 'console.file.state.mend',
};
const TONES: Partial<Record<MassStatus, Tone>> = { Created: 'good', Failed: 'bad', Processed: 'warn' };

/** The state of a file and why it is stuck, in a sentence that staff can read to a caller. */
export function FileState({ file }: { file: File }): ReactNode {
  const t = useText();
  const say = useRefusal();
  const { mass_payment_status: status, error, payments_summary: of } = file;
  const reason = error && say(error);
  const hasErrors = of.payments_errored > 0;
  const { tone, text } = meaningOf(status, hasErrors ? of.payments_created : undefined);
  return (
    <section className={`notice stack tight ${error ? 'bad' : tone}`} aria-label={t('console.col.status')}>
      <p className="row">
        <State>{status}</State>
        <strong>{t(text)}</strong>
      </p>
      {error && (
        <p>
          <ForeignText>{reason === error.details ? `${error.message}: ${reason}` : reason}</ForeignText>
        </p>
      )}
      {hasErrors && (
        <p>{t('console.file.state.errors', { failed: of.payments_errored, received: of.payments_received })}</p>
      )}
      {hasErrors && ADVICE[status] && <p>{t(ADVICE[status])}</p>}
    </section>
  );
}

/** @param created the payments of a file with errors; undefined if it has none */
function meaningOf(status: MassStatus, created: number | undefined): { tone: Tone; text: TextKey } {
  if (status !== 'Created' || created === undefined) return { tone: TONES[status] ?? 'info', text: MEANINGS[status] };
  return created === 0
    ? { tone: 'bad', text: 'console.file.state.none' }
    : { tone: 'warn', text: 'console.file.state.partly' };
}

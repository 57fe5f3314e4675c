import type { ReactNode } from 'react';
import { CallError } from '../../data/call-error.ts';
import { exportPayments, type SearchTexts } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { save } from '../../frame/save.ts';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { Refusal } from '../decide/decision-dialog.tsx';

interface ResultsHeadProps {
  clientId: string;
  /** Includes the order. */
  search: SearchTexts;
  total: number;
}

/** How many payments a search has found, and a way to download them all. The download continues if the person opens another page. */
export function ResultsHead({ clientId, search, total }: ResultsHeadProps): ReactNode {
  const t = useText();
  const saving = useAct(async () => {
    const file = await exportPayments(clientId, search);
    save(file);
    return file.name;
  });
  return (
    <>
      <div className="row apart">
        <h2>
          <span role="status">{t('payments.total', { count: total })}</span>
        </h2>
        <Button isDisabled={total === 0} isPending={saving.isPending} onPress={() => saving.mutate()}>
          {t('payments.export')}
        </Button>
      </div>
      <Status tone={saving.isPending ? 'info' : 'good'}>
        {saving.isPending
          ? t('payments.export.pending')
          : saving.isSuccess && t('payments.export.done', { name: saving.data })}
      </Status>
      {saving.isError && (
        <Alert>
          <p>
            <strong>{t('payments.export.failed')}</strong>
          </p>
          <p>
            <Reason error={saving.error} />
          </p>
        </Alert>
      )}
    </>
  );
}

function Reason({ error }: { error: Error }): ReactNode {
  const t = useText();
  const isLost = !(error instanceof CallError) || error.code === 'connection_lost';
  return isLost ? t('payments.export.lost') : <Refusal error={error} />;
}

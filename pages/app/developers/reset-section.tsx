import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { callClient } from '../../data/client-api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

/** Resets the client's data to what the demonstration created. */
export function ResetSection(): ReactNode {
  const t = useText();
  const queries = useQueryClient();
  const { client_id: clientId } = useClient();
  const [isAsking, setAsking] = useState(false);
  const act = useAct(() => callClient('POST /sandbox/reset', clientId, {}));
  const reset = () =>
    act.mutate(undefined, {
      onSuccess: () => {
        setAsking(false);
        // Everything that the pages hold is out of date.
        void queries.invalidateQueries();
      },
    });
  return (
    <section className="card stack" aria-label={t('developers.reset')}>
      <h2>{t('developers.reset')}</h2>
      <p className="quiet">{t('developers.reset.text')}</p>
      <div className="row">
        <Button kind="danger" onPress={() => setAsking(true)}>
          {t('developers.reset')}
        </Button>
      </div>
      <Status>{act.isSuccess && t('developers.reset.done')}</Status>
      <Dialog
        title={t('developers.reset')}
        isOpen={isAsking}
        onBack={() => setAsking(false)}
        action={
          <Button kind="danger" isPending={act.isPending} onPress={reset}>
            {t('developers.reset')}
          </Button>
        }
      >
        <p>{t('developers.reset.ask', { client: clientId })}</p>
        {act.error && <Failure error={act.error} />}
      </Dialog>
    </section>
  );
}

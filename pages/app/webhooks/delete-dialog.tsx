import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { deleteSubscription, type Subscription, subscriptionsQuery } from './subscriptions.ts';

/** Deletes a subscription. */
export function DeleteDialog({
  subscription: { id, url },
  onBack,
  onDone,
}: {
  subscription: Subscription;
  onBack: () => void;
  onDone: (text: string) => void;
}): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const act = useAct(async () => {
    await deleteSubscription(clientId, id);
    onDone(t('webhooks.deleted'));
  }, [subscriptionsQuery(clientId).queryKey]);
  return (
    <Dialog
      title={t('webhooks.delete')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="danger" isPending={act.isPending} onPress={() => act.mutate()}>
          {t('webhooks.delete')}
        </Button>
      }
    >
      <p>
        <ForeignText>{url}</ForeignText>
      </p>
      <p>{t('webhooks.delete.text')}</p>
      {act.error && <Failure error={act.error} />}
    </Dialog>
  );
}

import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { replay, type Subscription } from './subscriptions.ts';

/** Sends past notifications again, from a chosen time: the failed ones, or all, including those from while it was paused. */
export function ReplayDialog({
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
  const form = useId();
  const [since, setSince] = useState('');
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [isTried, setTried] = useState(false);
  const act = useAct(
    () => replay(clientId, { subscriptionId: id, since: new Date(since).toISOString(), onlyFailed }),
    [['deliveries', clientId, id]],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (since !== '') act.mutate(undefined, { onSuccess: (count) => onDone(t('webhooks.replayed', { count })) });
  };
  return (
    <Dialog
      title={t('webhooks.replay')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={act.isPending}>
          {t('webhooks.replay')}
        </Button>
      }
    >
      <p>
        <ForeignText>{url}</ForeignText>
      </p>
      <p>{t('webhooks.replay.text')}</p>
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <TextField
          label={t('webhooks.since')}
          name="since"
          type="datetime-local"
          step="1"
          required
          value={since}
          hint={t('webhooks.since.hint')}
          error={isTried && since === '' ? t('webhooks.since.missing') : undefined}
          onChange={({ target }) => setSince(target.value)}
        />
        <Checkbox
          label={t('webhooks.onlyFailed')}
          name="only_failed"
          checked={onlyFailed}
          onChange={({ target }) => setOnlyFailed(target.checked)}
        />
      </form>
      {act.error && <Failure error={act.error} />}
    </Dialog>
  );
}

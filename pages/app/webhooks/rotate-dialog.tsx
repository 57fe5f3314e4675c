import { type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Select } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { newSecret, type Subscription, updateSubscription } from './subscriptions.ts';

/** How long the former secret still signs beside the new one. */
const OVERLAP_SECONDS = { none: 0, hour: 3_600, day: 86_400, week: 7 * 86_400 } as const;
type Overlap = keyof typeof OVERLAP_SECONDS;
const OVERLAPS = Object.keys(OVERLAP_SECONDS) as Overlap[];

/** Replaces the secret of a subscription. */
export function RotateDialog({
  subscription: { id, url },
  onBack,
  onDone,
}: {
  subscription: Subscription;
  onBack: () => void;
  onDone: (secret: string) => void;
}): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [overlap, setOverlap] = useState<Overlap>('day');
  const rotate = useAct(async () => {
    const secret = newSecret();
    await updateSubscription(clientId, id, { secret, previousSecretSeconds: OVERLAP_SECONDS[overlap] });
    return secret;
  });
  return (
    <Dialog
      title={t('webhooks.rotate')}
      isOpen
      onBack={onBack}
      action={
        <Button
          kind="primary"
          isPending={rotate.isPending}
          onPress={() => rotate.mutate(undefined, { onSuccess: onDone })}
        >
          {t('webhooks.rotate')}
        </Button>
      }
    >
      <p>
        <ForeignText>{url}</ForeignText>
      </p>
      <p>{t('webhooks.rotate.text')}</p>
      <Select
        label={t('webhooks.overlap')}
        hint={t('webhooks.overlap.hint')}
        value={overlap}
        onChange={({ target }) => setOverlap(target.value as Overlap)}
      >
        {OVERLAPS.map((each) => (
          <option key={each} value={each}>
            {t(`webhooks.overlap.${each}`)}
          </option>
        ))}
      </Select>
      {rotate.error && <Failure error={rotate.error} />}
    </Dialog>
  );
}

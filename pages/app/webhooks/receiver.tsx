import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { HealthChart } from './health-chart.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { SubscriptionForm } from './subscription-form.tsx';
import {
  ping,
  type Subscription,
  type SubscriptionFields,
  subscriptionsQuery,
  updateSubscription,
} from './subscriptions.ts';

interface ReceiverProps {
  subscription: Subscription;
  /** All existing types. */
  types: string[];
  /** True if its deliveries are shown. */
  isOpen: boolean;
  onDone: (text: string) => void;
  /** Called with a new secret, which is shown once. */
  onSecret: (secret: string) => void;
}

type DialogName = 'change' | 'rotate' | 'replay' | 'delete';

/** A subscription and its actions; when open, also the health of its receiver. */
export function Receiver({ subscription, types, isOpen, onDone, onSecret }: ReceiverProps): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const { id, url, active } = subscription;
  const mayManage = permissions.includes('can_manage_webhooks');
  const keys = [subscriptionsQuery(clientId).queryKey, ['deliveries', clientId, id]];
  const [dialog, setDialog] = useState<DialogName>();
  const close = () => setDialog(undefined);
  const done = (text: string) => {
    close();
    onDone(text);
  };
  const pause = useAct(() => updateSubscription(clientId, id, { active: !active }), keys);
  const pinging = useAct(() => ping(clientId, id), keys);
  const change = useAct((fields: SubscriptionFields) => updateSubscription(clientId, id, fields), keys);
  const name = url === '' ? t('webhooks.stream') : isolated(url);
  return (
    <section className="card stack" aria-label={name}>
      <div className="row apart">
        <h2>
          <Link to="." search={((before: object) => ({ ...before, subscription: id })) as never} aria-current={isOpen}>
            {url === '' ? t('webhooks.stream') : <ForeignText>{url}</ForeignText>}
          </Link>
        </h2>
        <State subscription={subscription} />
      </div>
      <p className="quiet small">
        {subscription.types.length === 0 ? t('webhooks.noTypes') : subscription.types.join(', ')}
      </p>
      {mayManage && (
        <div className="row">
          <Button onPress={() => setDialog('change')}>{t('webhooks.change')}</Button>
          <Button
            isPending={pause.isPending}
            onPress={() =>
              pause.mutate(undefined, { onSuccess: () => onDone(t(active ? 'webhooks.paused' : 'webhooks.resumed')) })
            }
          >
            {t(active ? 'webhooks.pause' : 'webhooks.resume')}
          </Button>
          <Button
            isPending={pinging.isPending}
            onPress={() => pinging.mutate(undefined, { onSuccess: () => onDone(t('webhooks.pinged')) })}
          >
            {t('webhooks.ping')}
          </Button>
          <Button onPress={() => setDialog('replay')}>{t('webhooks.replay')}</Button>
          <Button onPress={() => setDialog('rotate')}>{t('webhooks.rotate')}</Button>
          <Button kind="danger" onPress={() => setDialog('delete')}>
            {t('webhooks.delete')}
          </Button>
        </div>
      )}
      {(pause.error ?? pinging.error) && <Failure error={pause.error ?? pinging.error} />}
      {isOpen && (
        <>
          <HealthChart subscriptionId={id} />
          <DeliveryList subscription={subscription} mayManage={mayManage} onDone={onDone} />
        </>
      )}
      {dialog === 'change' && (
        <SubscriptionForm
          title={t('webhooks.change')}
          action={t('webhooks.change')}
          types={types}
          subscription={subscription}
          act={change}
          onBack={close}
          onDone={() => done(t('webhooks.changed'))}
        />
      )}
      {dialog === 'rotate' && (
        <RotateDialog
          subscription={subscription}
          onBack={close}
          onDone={(secret) => {
            done(t('webhooks.rotated'));
            onSecret(secret);
          }}
        />
      )}
      {dialog === 'replay' && <ReplayDialog subscription={subscription} onBack={close} onDone={done} />}
      {dialog === 'delete' && <DeleteDialog subscription={subscription} onBack={close} onDone={done} />}
    </section>
  );
}

/** Whether notifications are sent to it; if the service switched it off, also why. */
function State({ subscription: { active, disabledReason } }: Pick<ReceiverProps, 'subscription'>): ReactNode {
  const t = useText();
  if (active) return <Badge tone="good">{t('webhooks.state.active')}</Badge>;
  if (disabledReason) return <Badge tone="bad">{t(`webhooks.state.${disabledReason}`)}</Badge>;
  return <Badge tone="warn">{t('webhooks.state.paused')}</Badge>;
}

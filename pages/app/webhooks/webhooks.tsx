import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Status } from '../../design/notice.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { Receiver } from './receiver.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { SubscriptionForm } from './subscription-form.tsx';
import { createSubscription, newSecret, type SubscriptionFields, subscriptionsQuery } from './subscriptions.ts';
import './webhooks.css';

/** Who is notified of the client's events: the subscriptions, their deliveries, and the receivers' answers. */
export default function WebhooksPage(): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const mayManage = permissions.includes('can_manage_webhooks');
  const { data, error, refetch } = useQuery(subscriptionsQuery(clientId));
  const wanted = firstOf(useSearch({ strict: false, select: (search: Search) => search.subscription }));
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const [done, setDone] = useState('');
  const create = useAct(
    async (fields: SubscriptionFields) => {
      const made = newSecret();
      await createSubscription(clientId, { ...fields, secret: made });
      return made;
    },
    [subscriptionsQuery(clientId).queryKey],
  );
  const shown = data?.subscriptions.find(({ id }) => id === wanted) ?? data?.subscriptions[0];
  return (
    <Page
      title={t('webhooks.title')}
      actions={
        mayManage && (
          <Button
            kind="primary"
            onPress={() => {
              create.reset();
              setCreating(true);
            }}
          >
            {t('webhooks.new')}
          </Button>
        )
      }
    >
      <p className="quiet">{t(mayManage ? 'webhooks.intro' : 'webhooks.readOnly')}</p>
      <Status>{done}</Status>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.subscriptions.length === 0 && (
        <Empty title={t('webhooks.none')}>{mayManage && t('webhooks.none.text')}</Empty>
      )}
      {data?.subscriptions.map((subscription) => (
        <Receiver
          key={subscription.id}
          subscription={subscription}
          types={data.types}
          isOpen={subscription.id === shown?.id}
          onDone={setDone}
          onSecret={setSecret}
        />
      ))}
      {isCreating && data && (
        <SubscriptionForm
          title={t('webhooks.new')}
          action={t('webhooks.new')}
          types={data.types}
          act={create}
          onBack={() => setCreating(false)}
          onDone={(made) => {
            setCreating(false);
            setDone(t('webhooks.created'));
            setSecret(made);
          }}
        />
      )}
      {secret !== undefined && <SecretDialog secret={secret} onBack={() => setSecret(undefined)} />}
    </Page>
  );
}

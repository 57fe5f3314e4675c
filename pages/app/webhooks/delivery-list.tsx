import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/field.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { useSteadyRows } from '../../design/steady-rows.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DELIVERY_STATUSES, type DeliveryStatus, deliveriesQuery } from './deliveries.ts';
import { DeliveryItem } from './delivery-item.tsx';
import type { Subscription } from './subscriptions.ts';

/** Deliveries shown at first, and how many more each `Show more` adds. */
const PAGE_ROWS = 20;
/** The most that are shown: filters find the rest. */
const MAX_ROWS = 400;

/** What was sent to a receiver, newest first. */
export function DeliveryList({
  subscription,
  mayManage,
  onDone,
}: {
  subscription: Subscription;
  mayManage: boolean;
  onDone: (text: string) => void;
}): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [status, setStatus] = useState('');
  const [type, setType] = useState('');
  const [first, setFirst] = useState(PAGE_ROWS);
  const filter = { status: (status || undefined) as DeliveryStatus | undefined, type: type || undefined };
  const { data, error, refetch, isPlaceholderData } = useQuery(
    deliveriesQuery(clientId, subscription.id, filter, first),
  );
  const scope = JSON.stringify([filter, first, isPlaceholderData]);
  const { rows, holders } = useSteadyRows(data?.rows ?? [], { keyOf: ({ id }) => id, scope });
  return (
    <section className="stack" aria-label={t('webhooks.deliveries')}>
      <h3>{t('webhooks.deliveries')}</h3>
      <div className="fields">
        <Select label={t('webhooks.status')} value={status} onChange={({ target }) => setStatus(target.value)}>
          <option value="">{t('webhooks.all')}</option>
          {DELIVERY_STATUSES.map((each) => (
            <option key={each} value={each}>
              {t(`webhooks.status.${each}`)}
            </option>
          ))}
        </Select>
        <Select label={t('webhooks.type')} value={type} onChange={({ target }) => setType(target.value)}>
          <option value="">{t('webhooks.all')}</option>
          {[...subscription.types, 'PING'].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
      </div>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      <div {...holders}>
        {data && rows.length === 0 && (
          <Empty title={t('webhooks.deliveries.none')}>{t('webhooks.deliveries.none.text')}</Empty>
        )}
        {rows.length > 0 && (
          <ul className="deliveries">
            {rows.map(({ row }) => (
              <DeliveryItem
                key={row.id}
                delivery={row}
                subscription={subscription}
                mayManage={mayManage}
                onDone={onDone}
              />
            ))}
          </ul>
        )}
      </div>
      {data?.hasMore && first < MAX_ROWS && (
        <Button onPress={() => setFirst(Math.min(MAX_ROWS, first + PAGE_ROWS))}>{t('webhooks.more')}</Button>
      )}
    </section>
  );
}

import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Badge } from '../../design/badge.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { Cut, IdLink, ListLink, State } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';

type Subscription = Answered<'GET /subscriptions'>[number];

/** Where clients receive notifications, and how well that works. */
export default function SubscriptionsPage(): ReactNode {
  const t = useText();
  const name = t('console.nav.subscriptions');
  return (
    <Page title={name}>
      <p className="quiet small">{t('console.list.live')}</p>
      <Listing
        name={name}
        operation="GET /subscriptions"
        none={t('console.none.subscriptions')}
        live
        filters={[
          { name: 'client_id', label: t('console.col.client') },
          { name: 'active', label: t('console.col.active'), options: ['true', 'false'] },
          { name: 'failing', label: t('console.col.fails'), options: ['true', 'false'] },
        ]}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'id',
            title: t('console.col.id'),
            cell: ({ id }) => (
              <ListLink to="/notifications" search={{ subscription_id: id }} id={id}>
                {id}
              </ListLink>
            ),
          },
          {
            key: 'client',
            title: t('console.col.client'),
            cell: (row) => (
              <div className="stack tight">
                <ClientInRow id={row.client_id} />
                <IdLink to="contacts" id={row.contact_id} />
              </div>
            ),
          },
          {
            key: 'url',
            title: t('console.col.url'),
            cell: ({ url, types }) => (
              <div>
                <Cut>{url}</Cut>
                <div className="small quiet">
                  {types.length > 0 ? (
                    <Cut>{types.join(', ')}</Cut>
                  ) : (
                    <Badge tone="warn">{t('console.sub.noTypes')}</Badge>
                  )}
                </div>
              </div>
            ),
          },
          {
            key: 'active',
            title: t('console.col.active'),
            cell: ({ active }) => (
              <Badge tone={active ? 'good' : 'warn'}>{t(active ? 'console.yes' : 'console.no')}</Badge>
            ),
          },
          {
            key: 'failing',
            title: t('console.col.failing'),
            cell: ({ failing_since: since }) => since && <Moment at={since} />,
          },
          {
            key: 'disabled',
            title: t('console.col.disabled'),
            cell: ({ disabled_reason: reason, disabled_at: at }) =>
              reason && (
                <div>
                  <State>{reason}</State> <Moment at={at} />
                </div>
              ),
          },
          { key: 'act', title: t('console.col.action'), cell: (row) => <Replay subscription={row} /> },
        ]}
      />
    </Page>
  );
}

function Replay({ subscription }: { subscription: Subscription }): ReactNode {
  const t = useText();
  const { id, client_id: client, url } = subscription;
  const instant = (value: FormDataEntryValue | null) => (value ? new Date(String(value)).toISOString() : undefined);
  return (
    <Act
      name={t('console.act.replay')}
      scope="redeliver"
      facts={[
        { name: t('console.col.subscription'), value: id },
        { name: t('console.col.client'), value: client },
        { name: t('console.col.url'), value: url && <ForeignText>{url}</ForeignText> },
      ]}
      fields={
        <>
          <TextField
            label={t('console.act.replay.since')}
            name="since"
            type="datetime-local"
            defaultValue={yesterday()}
          />
          <TextField label={t('console.act.replay.until')} name="until" type="datetime-local" />
          <Checkbox label={t('console.act.replay.failed')} name="only_failed" />
        </>
      }
      act={async ({ headers, form }) => {
        const until = instant(form.get('until'));
        const body = {
          since: instant(form.get('since')) ?? new Date(0).toISOString(),
          ...(until ? { until } : {}),
          only_failed: form.get('only_failed') !== null,
        };
        const answer = await callOperator('POST /subscriptions/{id}/replay', { path: { id }, body, headers });
        return t('console.act.replay.queued', { count: answer.body.count });
      }}
    />
  );
}

const DAY_MS = 86_400_000;

function yesterday(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000 - DAY_MS).toISOString().slice(0, 16);
}

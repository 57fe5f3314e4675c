import type { ReactNode } from 'react';
import type { Answered } from '../../data/operator-api.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Table } from '../../design/table.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { Json, More } from '../lists/code.tsx';
import { Actor, ListLink, State, useTokenName } from '../lists/links.tsx';
import { useWord } from '../lists/words.ts';

type TimelineEntry = Answered<'GET /payments/{payment_id}/timeline'>[number];

/** An entry with the fields of all kinds. */
type Entry = TimelineEntry & Record<string, unknown>;

const textOf = (value: unknown) => (value === null || value === undefined ? '' : String(value));

/** Everything that happened to a payment, oldest first. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }): ReactNode {
  const t = useText();
  // An approval names its contact, and the action beside it has only the id.
  const names = new Map(
    (entries as readonly Entry[]).flatMap(({ contact_id: id, contact_name: name }) =>
      id && name ? [[textOf(id), textOf(name)] as const] : [],
    ),
  );
  return (
    <Table
      name={t('console.pay.timeline')}
      rows={entries.map((entry, place) => ({ entry: entry as Entry, place }))}
      rowKey={({ place }) => place}
      columns={[
        { key: 'at', title: t('console.col.at'), cell: ({ entry }) => <Moment at={entry.at} /> },
        { key: 'what', title: t('console.col.what'), cell: ({ entry }) => <What entry={entry} /> },
        { key: 'status', title: t('console.col.status'), cell: ({ entry }) => <Outcome entry={entry} /> },
        {
          key: 'actor',
          title: t('console.col.actor'),
          cell: ({ entry }) => (
            <Actor names={names}>{textOf(entry.actor ?? (entry.source && entry.contact_name))}</Actor>
          ),
        },
        { key: 'detail', title: t('console.col.detail'), cell: ({ entry }) => <Detail entry={entry} /> },
      ]}
    />
  );
}

function What({ entry }: { entry: Entry }): ReactNode {
  const t = useText();
  const word = useWord();
  const tokenName = useTokenName();
  const { kind } = entry;
  if (kind === 'approval') {
    const who = visible(textOf(entry.contact_name));
    const by = entry.on_behalf_by && t('console.event.onBehalf', { who: tokenName(textOf(entry.on_behalf_by)) });
    return `${t(entry.decision === 'reject' ? 'console.event.reject' : 'console.event.authorise', { who })}${by ? ` (${by})` : ''}`;
  }
  if (kind === 'attempt') return t('console.event.attempt', { number: Number(entry.attempt_number) });
  if (kind === 'notification') return t('console.event.notification', { what: textOf(entry.type) });
  if (kind === 'audit') return t('console.event.audit', { what: word(textOf(entry.action)) });
  return t(`console.did.${textOf(entry.action)}` as TextKey);
}

function Outcome({ entry }: { entry: Entry }): ReactNode {
  const { kind, status, status_code: code, reason } = entry;
  if (kind === 'attempt') return <State>{textOf(code ?? reason)}</State>;
  return status === undefined ? null : <State>{textOf(status)}</State>;
}

function Detail({ entry }: { entry: Entry }): ReactNode {
  const t = useText();
  const { kind, notification_id: notification, reason, duration_ms: ms } = entry;
  if (kind === 'notification')
    return (
      <ListLink to="/notifications" search={{ id: textOf(notification) }}>
        {t('console.show')}
      </ListLink>
    );
  if (kind === 'attempt') return `${Math.round(Number(ms))} ms`;
  return (
    <div className="stack tight">
      {entry.source === 'record' && t('console.event.fromRecord')}
      {reason ? <ForeignText>{textOf(reason)}</ForeignText> : null}
      {kind === 'audit' && (
        <More>
          <Json name={t('console.col.change')}>{{ before: entry.before, after: entry.after }}</Json>
        </More>
      )}
    </div>
  );
}

import type { ReactNode } from 'react';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Json, More } from '../lists/code.tsx';
import { Actor, Id, IdLink } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { useWord } from '../lists/words.ts';
import { Verification } from './verification.tsx';

/** The kinds of records that have their own page. */
const PAGES: Record<string, Parameters<typeof IdLink>[0]['to']> = {
  payment: 'payments',
  contact: 'contacts',
  client: 'clients',
  application: 'applications',
  trade: 'trades',
  quote: 'quotes',
  mass_payment: 'files',
  beneficiary: 'payees',
};

/** The kinds of records that the trail is about. */
const ENTITIES = [
  ...['account', 'account_details', 'application', 'approval', 'approval_configuration', 'approvals_configuration'],
  ...['beneficiary', 'change_consumer', 'client', 'client_pricing', 'clock', 'contact', 'currency', 'currency_account'],
  ...[
    'erasure',
    'exchange_rates',
    'forward_points',
    'fx_availability',
    'mass_beneficiary',
    'mass_payment',
    'master_key',
  ],
  ...['multipayment', 'notification', 'onboarding_event', 'operator_token', 'payment', 'payment_schemes', 'pricing'],
  ...['quote', 'staff_session', 'statement', 'statement_request', 'subscription', 'trade', 'transaction'],
];

/** Who did what, when and why, newest first; and the proof that nobody has altered it. */
export default function AuditPage(): ReactNode {
  const t = useText();
  const word = useWord();
  const kindWord = useWord('entity');
  const name = t('console.nav.audit');
  return (
    <Page title={name}>
      <Verification />
      <Listing
        name={name}
        operation="GET /audit"
        query={{ order: 'desc' }}
        filters={[
          { name: 'entity', label: t('console.col.entity'), options: ENTITIES, of: 'entity' },
          { name: 'entity_id', label: t('console.col.entityId') },
          { name: 'client_id', label: t('console.col.client') },
          { name: 'from', label: t('console.col.from'), instant: true, group: t('console.col.at') },
          { name: 'to', label: t('console.col.to'), instant: true, group: t('console.col.at') },
        ]}
        rowKey={({ position }) => position}
        columns={[
          { key: 'position', title: t('console.col.position'), numeric: true, cell: ({ position }) => position },
          { key: 'at', title: t('console.col.at'), cell: ({ at }) => <Moment at={at} /> },
          {
            key: 'actor',
            title: t('console.col.actor'),
            cell: ({ actor, staff }) => (
              <div>
                <Actor>{actor}</Actor>
                {staff && (
                  <div className="small quiet">
                    <ForeignText>{staff.subject}</ForeignText>
                  </div>
                )}
              </div>
            ),
          },
          { key: 'action', title: t('console.col.action'), cell: ({ action }) => word(action) },
          {
            key: 'entity',
            title: t('console.col.entity'),
            cell: ({ entity, entity_id: id, action, client_id: client }) => (
              <div>
                <div className="console-line together">
                  <span>{kindWord(entity)}</span>
                  {PAGES[entity] && action !== 'import' ? (
                    <IdLink to={PAGES[entity]} id={id} />
                  ) : (
                    id !== entity && <Id>{id}</Id>
                  )}
                </div>
                <div className="small">{entity !== 'client' && <ClientInRow id={client} />}</div>
              </div>
            ),
          },
          { key: 'reason', title: t('console.col.reason'), cell: ({ reason }) => <ForeignText>{reason}</ForeignText> },
          {
            key: 'change',
            title: t('console.col.change'),
            cell: ({ before, after, request_id: request }) => (
              <More>
                <Json name={t('console.col.change')}>{{ request_id: request, before, after }}</Json>
              </More>
            ),
          },
        ]}
      />
    </Page>
  );
}

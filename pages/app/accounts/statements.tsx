import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type StatementProgress, statementsQuery } from '../../data/accounts.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day, Moment } from '../../design/moment.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { StatementDialog } from './statement-dialog.tsx';

const TONES: Record<StatementProgress['state'], Tone> = {
  queued: 'info',
  running: 'info',
  sent: 'good',
  failed: 'bad',
};

/** Requests a statement, and shows what became of earlier requests. */
export function Statements({ currencies }: { currencies: string[] }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [isAsking, setAsking] = useState(false);
  const [done, setDone] = useState('');
  const { data, error, refetch } = useQuery(statementsQuery(clientId));
  return (
    <section className="card stack" aria-label={t('accounts.statements')}>
      <div className="row apart">
        <h2>{t('accounts.statements')}</h2>
        <Button onPress={() => setAsking(true)}>{t('accounts.request')}</Button>
      </div>
      <Status>{done}</Status>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={2} />}
      {data?.length === 0 && <p className="quiet">{t('accounts.statements.none')}</p>}
      {data && data.length > 0 && (
        <Table
          name={t('accounts.statements')}
          columns={[
            { key: 'requested', title: t('accounts.requested'), cell: (row) => <Moment at={row.requested_at} /> },
            {
              key: 'period',
              title: t('accounts.period'),
              cell: (row) => (
                <span>
                  <Day on={row.date_from} /> – <Day on={row.date_to} />
                </span>
              ),
            },
            { key: 'currencies', title: t('accounts.currencies'), cell: (row) => row.currencies.join(', ') },
            { key: 'format', title: t('accounts.format'), cell: (row) => row.format },
            { key: 'to', title: t('accounts.sentTo'), cell: (row) => <ForeignText>{row.sent_to}</ForeignText> },
            {
              key: 'state',
              title: t('accounts.state'),
              cell: ({ state, reason }) => (
                <div>
                  <Badge tone={TONES[state]}>{t(`accounts.statement.${state}`)}</Badge>
                  {reason !== null && (
                    <div className="small quiet">
                      <ForeignText>{reason}</ForeignText>
                    </div>
                  )}
                </div>
              ),
            },
          ]}
          rows={data}
          rowKey={({ id }) => id}
        />
      )}
      {isAsking && (
        <StatementDialog
          currencies={currencies}
          onBack={() => setAsking(false)}
          onDone={() => {
            setAsking(false);
            setDone(t('accounts.request.done'));
          }}
        />
      )}
    </section>
  );
}

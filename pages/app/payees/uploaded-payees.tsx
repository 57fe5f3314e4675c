import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { FAULTS_SHOWN, isDone, payeeFaultsQuery, payeeFileQuery } from '../../data/payee-files.ts';
import { payeesKey } from '../../data/payees.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Status } from '../../design/notice.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { Failure } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useRichText, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import type { SentFile } from './upload-payees.tsx';

/** The progress of a file of payees, and the rows that failed. */
export function UploadedPayees({ file }: { file: SentFile }): ReactNode {
  const rich = useRichText();
  const { client_id: clientId } = useClient();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(payeeFileQuery(clientId, file.id));
  const done = data && isDone(data);
  useEffect(() => {
    if (done) void queries.invalidateQueries({ queryKey: payeesKey(clientId) });
  }, [done, queries, clientId]);
  const name = <ForeignText>{file.name}</ForeignText>;
  const failed = data?.rows_errored ?? 0;
  return (
    <>
      <Status tone={done ? (failed > 0 ? 'warn' : 'good') : 'info'}>
        {done
          ? rich('payees.uploaded', { name, created: data.rows_created ?? 0, failed })
          : rich('payees.uploading', { name })}
      </Status>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {done && failed > 0 && <FailedRows file={file} />}
    </>
  );
}

/** The header of a CSV file is line 1, and places count from 0. */
const FIRST_LINE = 2;

function FailedRows({ file: { id, hasLines } }: { file: SentFile }): ReactNode {
  const t = useText();
  const say = useRefusal();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const found = useQuery(payeeFaultsQuery(clientId, id, page));
  return (
    <section className="card stack" aria-labelledby="failed-rows">
      <h2 id="failed-rows">{t('payees.failed')}</h2>
      <PagedList found={found} page={page} size={FAULTS_SHOWN} onPage={setPage}>
        {({ rows }) => (
          <Table
            name={t('payees.failed')}
            columns={[
              {
                key: 'line',
                title: t(hasLines ? 'payees.failed.line' : 'payees.failed.place'),
                cell: ({ request_index: place }) => place + (hasLines ? FIRST_LINE : 1),
              },
              {
                key: 'reason',
                title: t('payees.failed.reason'),
                cell: ({ code, message, details }) => (
                  <ForeignText>{say({ code, details: details || message })}</ForeignText>
                ),
              },
            ]}
            rows={rows}
            rowKey={({ request_index: place, code, details }) => `${place} ${code} ${details}`}
          />
        )}
      </PagedList>
    </section>
  );
}

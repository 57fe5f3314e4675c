import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { downloadErrors, FAILED_SHOWN, type FailedRow, failedQuery } from '../../data/files.ts';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { RowFaults } from '../../design/row-faults.tsx';
import { SentMoney } from '../../design/sent-money.tsx';
import { Failure } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { save } from '../../frame/save.ts';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';

interface FailedRowsProps {
  id: string;
  count: number;
  /** True if the rows are lines below a header, which is line 1. */
  hasLines: boolean;
}

/** The line number of the first row of a CSV file. */
const FIRST_LINE = 2;

/** The rows of a file that cannot be processed, with the errors of each. */
export function FailedRows({ id, count, hasLines }: FailedRowsProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const found = useQuery(failedQuery(clientId, id, { page, count }));
  const saving = useAct(async () => save(await downloadErrors(clientId, id)));
  const place = ({ request_index: index }: FailedRow) => index + (hasLines ? FIRST_LINE : 1);
  return (
    <section className="card stack" aria-label={t('files.failed')}>
      <div className="row apart">
        <h2>{t('files.failed')}</h2>
        <Button isPending={saving.isPending} onPress={() => saving.mutate()}>
          {t('files.failed.download')}
        </Button>
      </div>
      {saving.error && <Failure error={saving.error} />}
      <PagedList found={found} page={page} size={FAILED_SHOWN} onPage={setPage}>
        {({ rows }) => (
          <Table
            name={t('files.failed')}
            columns={[
              { key: 'line', title: t(hasLines ? 'files.line' : 'files.row'), cell: place },
              {
                key: 'payee',
                title: t('payments.field.payee'),
                cell: (row) => <ForeignText>{String(row.beneficiary_name ?? row.beneficiary_id ?? '')}</ForeignText>,
              },
              {
                key: 'amount',
                title: t('payments.field.amount'),
                numeric: true,
                cell: ({ payment_amount: amount, payment_currency: currency }) => (
                  <SentMoney amount={amount} currency={currency} />
                ),
              },
              { key: 'reason', title: t('files.why'), cell: ({ errors }) => <RowFaults of={errors} /> },
            ]}
            rows={rows}
            rowKey={({ request_index: index }) => index}
          />
        )}
      </PagedList>
    </section>
  );
}

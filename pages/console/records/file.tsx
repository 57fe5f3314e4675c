import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { RowFaults } from '../../design/row-faults.tsx';
import { SentMoney } from '../../design/sent-money.tsx';
import { useText } from '../../texts/text.tsx';
import { Count } from '../lists/count.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { Cut } from '../lists/links.tsx';
import { NamedClient, NamedContact } from '../lists/named.tsx';
import { Records } from '../lists/records.tsx';
import { FileState } from './file-state.tsx';
import { OneRecord } from './one-record.tsx';
import { RelatedPayments } from './related-payments.tsx';

type File = Answered<'GET /mass-payments/{mass_payment_id}'>;

/** A file of payments: its progress, why it stopped, and the failed rows. */
export default function FilePage(): ReactNode {
  return (
    <OneRecord
      kind="file"
      title="console.file.title"
      read={async (id, signal) =>
        (await callOperator('GET /mass-payments/{mass_payment_id}', { path: { mass_payment_id: id }, signal })).body
      }
    >
      {(file) => (
        <>
          <FileState file={file} />
          <section className="card">
            <FileFacts file={file} />
          </section>
          {file.payments_summary.payments_errored > 0 && <FailedRows id={file.mass_payment_id} />}
          {file.payments_summary.payments_created > 0 && (
            <RelatedPayments query={{ client_id: file.client_id, mass_payment_id: file.mass_payment_id }} />
          )}
        </>
      )}
    </OneRecord>
  );
}

function FileFacts({ file }: { file: File }): ReactNode {
  const t = useText();
  const { payments_summary: of, sell_currency: sold } = file;
  const foreign = (text: string | null) => (text === null ? null : <ForeignText>{text}</ForeignText>);
  return (
    <KnownFacts
      facts={[
        { name: t('console.file.reference'), value: foreign(file.external_reference_id) },
        { name: t('console.file.msg'), value: foreign(file.payment_initiation_id) },
        { name: t('console.file.block'), value: foreign(file.payment_information_id) },
        { name: t('console.file.rows'), value: <Count>{of.payments_received}</Count> },
        { name: t('console.file.wrong'), value: <Count>{of.payments_errored}</Count> },
        { name: t('console.file.made'), value: <Count>{of.payments_created}</Count> },
        { name: t('console.file.fresh'), value: <Count>{file.new_beneficiaries}</Count> },
        { name: t('console.file.sums'), value: file.sums.length > 0 && <Sums file={file} /> },
        {
          name: t('console.file.sell'),
          value: file.sell_amount !== null && sold !== null && (
            <Money amount={decimal(file as { sell_amount: number }, 'sell_amount')} currency={sold} />
          ),
        },
        { name: t('console.file.ask'), value: file.estimated_at && <Moment at={file.estimated_at} /> },
        { name: t('console.col.client'), value: <NamedClient id={file.client_id} /> },
        { name: t('console.file.by'), value: <NamedContact id={file.created_by} /> },
        { name: t('console.col.created'), value: <Moment at={file.created_at} /> },
      ]}
    />
  );
}

/** The sums of the valid rows, one line for each currency. */
function Sums({ file: { sums } }: { file: File }): ReactNode {
  return sums.map((sum) => (
    <div key={sum.currency}>
      <Money amount={decimal(sum, 'amount')} currency={sum.currency} />
    </div>
  ));
}

type FailedRow = Answered<'GET /mass-payments/{mass_payment_id}/errors'>[number];

/** The values of a row in some fields, as they were sent. They may be of any type, or missing. */
function said(row: FailedRow, ...fields: string[]): string {
  const sent = row as Record<string, unknown>;
  return fields
    .map((field) => sent[field])
    .filter((value) => value !== null && value !== undefined)
    .join(' ');
}

/** The rows that cannot be processed, counted from 1, with their errors. */
function FailedRows({ id }: { id: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  const name = t('console.file.failed');
  return (
    <section className="card stack" aria-labelledby="failed">
      <h2 id="failed">{name}</h2>
      <p className="quiet small">{t('console.file.lines')}</p>
      <Records
        name={name}
        operation="GET /mass-payments/{mass_payment_id}/errors"
        path={{ mass_payment_id: id }}
        page={page}
        onPage={setPage}
        rowKey={({ request_index: index }) => index}
        columns={[
          { key: 'row', title: t('console.file.row'), numeric: true, cell: ({ request_index: index }) => index + 1 },
          {
            key: 'payee',
            title: t('console.col.payee'),
            cell: (row) => (
              <div>
                <Cut>{said(row, 'beneficiary_name', 'beneficiary_id')}</Cut>
                <div className="small quiet">
                  <Cut>{said(row, 'payment_reference')}</Cut>
                </div>
              </div>
            ),
          },
          {
            key: 'amount',
            title: t('console.col.amount'),
            numeric: true,
            cell: (row) => <SentMoney amount={said(row, 'payment_amount')} currency={said(row, 'payment_currency')} />,
          },
          {
            key: 'why',
            title: t('console.file.why'),
            cell: ({ errors }) => <RowFaults of={errors} />,
          },
        ]}
      />
    </section>
  );
}

import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink, State } from '../lists/links.tsx';
import { Records } from '../lists/records.tsx';
import { OneRecord } from './one-record.tsx';

type File = Answered<'GET /mass-payments/{mass_payment_id}'>;

/** A file of payments: how far it is, why it stopped, and the rows that failed. */
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
          <section className="card">
            <FileFacts file={file} />
          </section>
          {file.payments_summary.payments_errored > 0 && <FailedRows id={file.mass_payment_id} />}
        </>
      )}
    </OneRecord>
  );
}

function FileFacts({ file }: { file: File }): ReactNode {
  const t = useText();
  const { payments_summary: of, sell_currency: sold, error } = file;
  const foreign = (text: string | null) => (text === null ? null : <ForeignText>{text}</ForeignText>);
  return (
    <Facts
      facts={[
        { name: t('console.col.status'), value: <State>{file.mass_payment_status}</State> },
        {
          name: t('console.file.stopped'),
          value: error && <ForeignText>{`${error.message}: ${error.details}`}</ForeignText>,
        },
        { name: t('console.col.reference'), value: foreign(file.external_reference_id) },
        { name: t('console.file.msg'), value: foreign(file.payment_initiation_id) },
        { name: t('console.file.block'), value: foreign(file.payment_information_id) },
        { name: t('console.file.rows'), value: of.payments_received },
        { name: t('console.file.wrong'), value: of.payments_errored },
        { name: t('console.file.made'), value: of.payments_created },
        { name: t('console.file.fresh'), value: file.new_beneficiaries },
        { name: t('console.file.sums'), value: <Sums file={file} /> },
        {
          name: t('console.file.sell'),
          value: file.sell_amount !== null && sold !== null && (
            <Money amount={decimal(file as { sell_amount: number }, 'sell_amount')} currency={sold} />
          ),
        },
        { name: t('console.file.ask'), value: file.estimated_at && <Moment at={file.estimated_at} /> },
        { name: t('console.col.client'), value: <IdLink to="clients" id={file.client_id} /> },
        { name: t('console.file.by'), value: <IdLink to="contacts" id={file.created_by} /> },
        { name: t('console.col.created'), value: <Moment at={file.created_at} /> },
      ]}
    />
  );
}

/** What the valid rows pay, a line for each currency. */
function Sums({ file: { sums } }: { file: File }): ReactNode {
  return sums.map((sum) => (
    <div key={sum.currency}>
      <Money amount={decimal(sum, 'amount')} currency={sum.currency} />
    </div>
  ));
}

/** The rows that cannot be done, counted from 1, with what is wrong with each. */
function FailedRows({ id }: { id: string }): ReactNode {
  const t = useText();
  const [page, setPage] = useState(1);
  const name = t('console.file.failed');
  return (
    <section className="card stack" aria-labelledby="failed">
      <h2 id="failed">{name}</h2>
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
            key: 'why',
            title: t('console.file.why'),
            cell: ({ errors }) =>
              errors.map(({ code, message, details }) => (
                <div key={`${code} ${details}`}>
                  <ForeignText>{`${message}: ${details}`}</ForeignText>
                </div>
              )),
          },
        ]}
      />
    </section>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { CallError } from '../../data/call-error.ts';
import { fileQuery, isBusy, type MassPayment, type ShownFile } from '../../data/files.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Alert } from '../../design/notice.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { Failure, Loading } from '../../design/states.tsx';
import { NotFound } from '../../frame/not-found.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DecideFile } from './decide-file.tsx';
import { FailedRows } from './failed-rows.tsx';
import { FileStatus } from './file-status.tsx';

/** A file of payments: its progress, its errors, its cost, and its confirmation. */
export default function FilePage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { mass_payment_id: id } = useParams({ strict: false }) as { mass_payment_id: string };
  const { data, error, refetch } = useQuery(fileQuery(clientId, id));
  if (error instanceof CallError && error.status === 404) return <NotFound />;
  if (!data)
    return (
      <Page title={t('files.title')}>
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />}
      </Page>
    );
  return <Shown key={id} view={data} />;
}

function Shown({ view }: { view: ShownFile }): ReactNode {
  const t = useText();
  const say = useRefusal();
  const { file, has_lines: hasLines } = view;
  const { error, mass_payment_id: id, payments_summary: counts } = file;
  const name = file.external_reference_id;
  const reason = error && say(error);
  return (
    <Page
      title={t('files.one', { reference: name })}
      heading={<ForeignText>{t('files.one', { reference: name })}</ForeignText>}
    >
      <Progress file={file} />
      {error && (
        <Alert>
          {reason === error.details && (
            <p>
              <strong>{error.message}</strong>
            </p>
          )}
          <p>{reason}</p>
        </Alert>
      )}
      <DecideFile view={view} />
      <section className="card stack" aria-label={t('files.facts')}>
        <h2>{t('files.facts')}</h2>
        <FileFacts view={view} />
        {counts.payments_created > 0 && (
          <p>
            <Link to={'/payments' as never} search={{ mass_payment_id: id } as never}>
              {t('files.payments', { count: counts.payments_created })}
            </Link>
          </p>
        )}
      </section>
      {view.new_payees.length > 0 && <NewPayees names={view.new_payees} />}
      {counts.payments_errored > 0 && <FailedRows id={id} count={counts.payments_errored} hasLines={hasLines} />}
    </Page>
  );
}

/** How far the service has processed the file. */
function Progress({ file }: { file: MassPayment }): ReactNode {
  const t = useText();
  const { mass_payment_status: status, payments_summary: counts } = file;
  const isMaking = status === 'Creating' || status === 'Queued for creating';
  const done = isMaking ? counts.payments_created + counts.payments_errored : counts.payments_processed;
  return (
    <section className="card stack tight" aria-label={t('files.status')}>
      <p role="status" className="row">
        <FileStatus status={status} />
        {t('files.counts', {
          ...{ received: counts.payments_received, failed: counts.payments_errored },
          created: counts.payments_created,
        })}
      </p>
      {isBusy(file) && (
        <progress
          className="file-progress"
          aria-label={t('files.progress')}
          max={counts.payments_received}
          value={Math.min(done, counts.payments_received)}
        />
      )}
    </section>
  );
}

function FileFacts({ view: { file, made_by: maker } }: { view: ShownFile }): ReactNode {
  const t = useText();
  const { sell_currency: currency, sums } = file;
  const sold = decimal(file, 'sell_amount');
  return (
    <Facts
      facts={[
        ...sums.map((sum) => ({
          name: t('files.sum', { currency: sum.currency, count: sum.payments }),
          value: (
            <strong>
              <Money amount={decimal(sum, 'amount')} currency={sum.currency} />
            </strong>
          ),
        })),
        {
          name: t(file.trades_created > 0 ? 'files.cost' : 'files.estimate'),
          value: currency !== null && sold !== null && <Money amount={sold} currency={currency} />,
        },
        { name: t('files.newPayees'), value: String(file.new_beneficiaries) },
        { name: t('files.who'), value: <ForeignText>{maker}</ForeignText> },
        { name: t('files.when'), value: <Moment at={file.created_at} /> },
        ...(file.payment_initiation_id === null
          ? []
          : [{ name: t('files.message'), value: <ForeignText>{file.payment_initiation_id}</ForeignText> }]),
      ].map(({ name, value }) => ({ name, value: value || null }))}
    />
  );
}

/** Payees that the file would create: confirming it pays them for the first time. */
function NewPayees({ names }: { names: string[] }): ReactNode {
  const t = useText();
  return (
    <section className="card stack" aria-label={t('files.newPayees')}>
      <h2>{t('files.newPayees')}</h2>
      <ul className="plain fields">
        {names.map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two payees may have one name
          <li key={index}>
            <ForeignText>{name}</ForeignText>
          </li>
        ))}
      </ul>
    </section>
  );
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FILES_SHOWN, filesQuery, type ListedFile, templateAddress } from '../../data/files.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Empty } from '../../design/states.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useRichText, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { FileStatus } from './file-status.tsx';
import { UploadFile } from './upload-file.tsx';

/** Files of payments: uploads new ones, and lists what became of earlier ones. */
export default function FilesPage(): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const [page, setPage] = useState(1);
  const maySend = permissions.includes('can_create_payments') && permissions.includes('can_manage_multipayments');
  const found = useQuery({ ...filesQuery(clientId, page), enabled: maySend });
  if (!maySend)
    return (
      <Page title={t('files.title')}>
        <Empty title={t('design.forbidden')}>{t('design.forbidden.text')}</Empty>
      </Page>
    );
  return (
    <Page
      title={t('files.title')}
      actions={
        <>
          <a href={templateAddress(clientId, false)} download>
            {t('files.template')}
          </a>
          <a href={templateAddress(clientId, true)} download>
            {t('files.template.payees')}
          </a>
        </>
      }
    >
      <Columns />
      <UploadFile />
      <section className="card stack" aria-label={t('files.sent')}>
        <h2>{t('files.sent')}</h2>
        <PagedList found={found} page={page} size={FILES_SHOWN} onPage={setPage}>
          {({ rows }) => <FileTable rows={rows} />}
        </PagedList>
      </section>
    </Page>
  );
}

/** Explains the columns of the template that say the same in every row. */
function Columns(): ReactNode {
  const rich = useRichText();
  const code = (text: string) => <code>{text}</code>;
  return (
    <p className="quiet small">
      {rich('files.template.columns', {
        ...{ direction: code('direction'), buy: code('buy'), trade_type: code('trade_type'), spot: code('spot') },
      })}
    </p>
  );
}

function FileTable({ rows }: { rows: ListedFile[] }): ReactNode {
  const t = useText();
  if (rows.length === 0) return <Empty title={t('files.none')}>{t('files.none.text')}</Empty>;
  const columns: Column<ListedFile>[] = [
    {
      key: 'file',
      title: t('files.file'),
      cell: ({ file }) => (
        <Link to={'/files/$mass_payment_id' as never} params={{ mass_payment_id: file.mass_payment_id } as never}>
          <ForeignText>{file.external_reference_id}</ForeignText>
        </Link>
      ),
    },
    { key: 'who', title: t('files.who'), cell: ({ made_by: name }) => <ForeignText>{name}</ForeignText> },
    { key: 'when', title: t('files.when'), cell: ({ file }) => <Moment at={file.created_at} /> },
    {
      key: 'rows',
      title: t('files.rows'),
      cell: ({ file: { payments_summary: count } }) =>
        t('files.counts', {
          ...{ received: count.payments_received, failed: count.payments_errored },
          created: count.payments_created,
        }),
    },
    { key: 'status', title: t('files.status'), cell: ({ file }) => <FileStatus status={file.mass_payment_status} /> },
  ];
  return <Table name={t('files.title')} columns={columns} rows={rows} rowKey={({ file }) => file.mass_payment_id} />;
}

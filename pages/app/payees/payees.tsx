import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { type Beneficiary, PAYEES_SHOWN, payeesQuery } from '../../data/payees.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Status } from '../../design/notice.tsx';
import { Empty, Failure } from '../../design/states.tsx';
import { type Column, Table } from '../../design/table.tsx';
import { Page } from '../../frame/page.tsx';
import { useLanguage, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { countryNames } from '../names.ts';
import { PagedList } from '../paged-list.tsx';
import { DeletePayee } from './delete-dialog.tsx';
import { PayeeForm } from './payee-form.tsx';
import { type SentFile, UploadPayees } from './upload-payees.tsx';
import { UploadedPayees } from './uploaded-payees.tsx';

const TONES: Record<Beneficiary['aml_status'], Tone> = {
  OK: 'good',
  'Pending Review': 'info',
  'Pending information': 'warn',
  Blocked: 'bad',
};

/** What is open above the list: the form (without a payee, for a new one), or the deletion dialog. */
type Opened = { act: 'save'; payee?: Beneficiary } | { act: 'delete'; payee: Beneficiary };

/** The client's payees: search, create, change and delete. */
export default function PayeesPage(): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const mayManage = permissions.includes('can_manage_beneficiaries');
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [page, setPage] = useState(1);
  const [opened, setOpened] = useState<Opened>();
  const [done, setDone] = useState('');
  const [sent, setSent] = useState<SentFile>();
  const [refused, setRefused] = useState<Error>();
  const wanted = useDeferredValue(text.trim());
  const found = useQuery(payeesQuery(clientId, wanted, page));
  const finish = (said: string) => {
    setOpened(undefined);
    setDone(said);
  };
  const pay = ({ beneficiary_id: id }: Beneficiary) =>
    void navigate({ to: '/payments/new' as never, search: { beneficiary_id: id } as never });
  const open = (next: Opened) => {
    setDone('');
    setOpened(next);
  };
  return (
    <Page
      title={t('payees.title')}
      actions={
        mayManage && (
          <>
            <UploadPayees onSent={setSent} onError={setRefused} />
            <Button kind="primary" onPress={() => open({ act: 'save' })}>
              {t('payees.new')}
            </Button>
          </>
        )
      }
    >
      <Status>{done}</Status>
      {refused && <Failure error={refused} />}
      {sent && <UploadedPayees key={sent.id} file={sent} />}
      <section className="card stack" aria-label={t('payees.title')}>
        <TextField
          label={t('payees.find')}
          hint={t('payees.find.hint')}
          name="payee"
          type="search"
          autoComplete="off"
          maxLength={140}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setPage(1);
          }}
        />
        <p className="quiet small" role="status">
          {wanted !== '' && found.data && found.data.total > 0 && t('payees.found', { count: found.data.total })}
        </p>
        <PagedList found={found} page={page} size={PAYEES_SHOWN} onPage={setPage}>
          {({ rows }) => (
            <PayeeTable
              rows={rows}
              isSearch={wanted !== ''}
              mayManage={mayManage}
              onPay={permissions.includes('can_create_payments') ? pay : undefined}
              onOpen={open}
            />
          )}
        </PagedList>
      </section>
      {opened?.act === 'save' && (
        <PayeeForm payee={opened.payee} onBack={() => setOpened(undefined)} onDone={() => finish(t('payees.saved'))} />
      )}
      {opened?.act === 'delete' && (
        <DeletePayee
          payee={opened.payee}
          onBack={() => setOpened(undefined)}
          onDone={() => finish(t('payees.deleted'))}
        />
      )}
    </Page>
  );
}

interface PayeeTableProps {
  rows: Beneficiary[];
  /** True if the rows are results of a search. */
  isSearch: boolean;
  mayManage: boolean;
  /** Undefined if the person may not order payments. */
  onPay: ((payee: Beneficiary) => void) | undefined;
  onOpen: (opened: Opened) => void;
}

function PayeeTable({ rows, isSearch, mayManage, onPay, onOpen }: PayeeTableProps): ReactNode {
  const t = useText();
  const language = useLanguage();
  const countries = new Map(countryNames([...new Set(rows.flatMap(({ country_code: code }) => code ?? []))], language));
  const nameOf = (code: string) => countries.get(code) ?? code;
  if (rows.length === 0 && isSearch) return <Empty title={t('payees.noneFound')} />;
  if (rows.length === 0) return <Empty title={t('payees.none')}>{mayManage && t('payees.none.text')}</Empty>;
  const columns: Column<Beneficiary>[] = [
    {
      key: 'name',
      title: t('payees.field.name'),
      cell: (payee) => (
        <span id={nameId(payee)} title={visible(payee.name)}>
          <ForeignText>{payee.name}</ForeignText>
        </span>
      ),
    },
    {
      key: 'country',
      title: t('payees.field.country_code'),
      cell: ({ country_code: country }) => country && <span title={nameOf(country)}>{nameOf(country)}</span>,
    },
    {
      key: 'currency',
      title: t('payees.field.bank_currency_code'),
      cell: ({ bank_accounts: [account] }) => account?.bank_currency_code,
    },
    {
      key: 'account',
      title: t('payees.account'),
      cell: ({ bank_accounts: [account] }) => (
        <span className="small iban-whole">
          {account?.iban ? (
            <Iban>{account.iban}</Iban>
          ) : (
            <span className="digits">
              <ForeignText>{account?.account_number}</ForeignText>
            </span>
          )}
        </span>
      ),
    },
    {
      key: 'state',
      title: t('payees.state'),
      cell: ({ aml_status: status }) => <Badge tone={TONES[status]}>{t(`payees.state.${status}`)}</Badge>,
    },
  ];
  if (mayManage || onPay)
    columns.push({
      key: 'acts',
      title: t('payees.acts'),
      cell: (payee) => (
        <span className="row">
          {onPay && <Act name={t('payees.pay')} of={payee} onPress={() => onPay(payee)} />}
          {mayManage && (
            <>
              <Act name={t('payees.change')} of={payee} onPress={() => onOpen({ act: 'save', payee })} />
              <Act name={t('payees.delete')} of={payee} onPress={() => onOpen({ act: 'delete', payee })} />
            </>
          )}
        </span>
      ),
    });
  return (
    <Table
      name={t('payees.title')}
      className="close"
      columns={columns}
      rows={rows}
      rowKey={({ beneficiary_id: id }) => id ?? ''}
    />
  );
}

/** The id of the text that describes a payee's buttons. */
const nameId = ({ beneficiary_id: id }: Beneficiary) => `payee-${id}`;

/** A button of a row. The payee tells it from others with the same name. */
function Act({ name, of, onPress }: { name: string; of: Beneficiary; onPress: () => void }): ReactNode {
  return (
    <Button kind="quiet" aria-describedby={nameId(of)} onPress={onPress}>
      {name}
    </Button>
  );
}

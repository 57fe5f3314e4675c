import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { useText } from '../../texts/text.tsx';
import { Act, type Given } from '../acts/act.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';

type Account = Answered<'GET /accounts'>[number];
type Status = NonNullable<BodyOf<'PATCH /accounts/{account_id}'>['status']>;

const DETAILS: FieldForm = {
  ...{ kind: 'rows', name: 'account_details', label: 'console.account.details', hint: 'console.account.details.hint' },
  columns: [
    { kind: 'text', name: 'account_number', label: 'console.col.account' },
    {
      ...{
        kind: 'choice',
        name: 'account_number_type',
        label: 'console.account.numberType',
        options: ['IBAN', 'BBAN'],
      },
      any: 'console.account.none',
    },
    { kind: 'text', name: 'bank_identifier', label: 'console.details.bank' },
    {
      ...{ kind: 'text', name: 'bank_identifier_type', label: 'console.details.bankType' },
      hint: 'console.account.bankType.hint',
    },
    { kind: 'text', name: 'account_name', label: 'console.account.name' },
    { kind: 'text', name: 'account_address', label: 'console.payee.address' },
  ],
};
const NEW_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'client_id', label: 'console.col.client', required: true, maxLength: 64 },
  { kind: 'text', name: 'currency', label: 'console.col.currency', required: true, maxLength: 3 },
  { kind: 'choice', name: 'account_type', label: 'console.account.type', options: ['Business', 'Personal'] },
  DETAILS,
];

/** Opens an account that payers pay into. @param clientId the client that the list is filtered by */
export function NewAccount({ clientId }: { clientId: string | undefined }): ReactNode {
  const t = useText();
  return (
    <SettingAct
      name={t('console.new.clientAccount')}
      scope="feed"
      facts={[]}
      fields={NEW_FIELDS}
      values={{ client_id: clientId, account_type: 'Business' }}
      sends="create"
      save={(body, { headers }) => callOperator('POST /accounts', { body: body as BodyOf<'POST /accounts'>, headers })}
    />
  );
}

/** The acts on an account: changing its details and its status. A deleted account cannot be changed. */
export function AccountActs({ account }: { account: Account }): ReactNode {
  const t = useText();
  const { account_id: id, status } = account;
  if (status === 'Deleted') return null;
  const facts = [
    { name: t('console.word.account'), value: id },
    { name: t('console.col.client'), value: account.client_id },
    { name: t('console.col.currency'), value: account.currency },
  ];
  const patch = (body: BodyOf<'PATCH /accounts/{account_id}'>, headers: Record<string, string>) =>
    callOperator('PATCH /accounts/{account_id}', { path: { account_id: id }, body, headers });
  const become =
    (next: Status) =>
    async ({ headers }: Given) => {
      await patch({ status: next }, headers);
      return undefined;
    };
  return (
    <span className="row end">
      <SettingAct
        name={t('console.act.change')}
        scope="feed"
        facts={facts}
        fields={[DETAILS]}
        values={{ account_details: account.account_details.map(withoutEmpty) }}
        sends="change"
        save={(body, { headers }) => patch(body as BodyOf<'PATCH /accounts/{account_id}'>, headers)}
      />
      {status === 'Enabled' ? (
        <Act name={t('console.act.disable')} scope="feed" kind="danger" facts={facts} act={become('Disabled')} />
      ) : (
        <>
          <Act name={t('console.act.enable')} scope="feed" facts={facts} act={become('Enabled')} />
          <Act name={t('console.act.delete')} scope="feed" kind="danger" facts={facts} act={become('Deleted')} />
        </>
      )}
    </span>
  );
}

/** Turns empty texts, which the form shows for missing values, into nulls. The fixed field order makes equal details compare equal. */
function withoutEmpty(details: Account['account_details'][number]): Record<string, string | null> {
  const known: Record<string, string> = details;
  return Object.fromEntries(
    DETAILS.kind === 'rows' ? DETAILS.columns.map(({ name }) => [name, known[name] || null]) : [],
  );
}

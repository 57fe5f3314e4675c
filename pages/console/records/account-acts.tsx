import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';

type Account = Answered<'GET /accounts'>[number];
type Status = BodyOf<'PATCH /accounts/{account_id}'>['status'];

/** Disables an account, and enables it again. */
export function AccountStatus({ account }: { account: Account }): ReactNode {
  const t = useText();
  const { account_id: id, client_id: client, currency, status } = account;
  if (status === 'Deleted') return null;
  const enabled = status === 'Enabled';
  const next: Status = enabled ? 'Disabled' : 'Enabled';
  return (
    <Act
      name={t(enabled ? 'console.act.disable' : 'console.act.enable')}
      scope="feed"
      kind={enabled ? 'danger' : 'second'}
      facts={[
        { name: t('console.word.account'), value: id },
        { name: t('console.col.client'), value: client },
        { name: t('console.col.currency'), value: currency },
      ]}
      act={async ({ headers }) => {
        await callOperator('PATCH /accounts/{account_id}', {
          path: { account_id: id },
          body: { status: next },
          headers,
        });
        return undefined;
      }}
    />
  );
}

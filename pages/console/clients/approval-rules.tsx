import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink } from '../lists/links.tsx';

type Configuration = Answered<'GET /approvals-configurations/{client_id}'>;

/** The client's own approval rules, and the members of its groups. */
export function ApprovalRules({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['client', clientId, 'approvals'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /approvals-configurations/{client_id}', { path: { client_id: clientId }, signal })).body,
  });
  return (
    <section className="card stack" aria-labelledby="rules">
      <h2 id="rules">{t('console.rules.title')}</h2>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={1} />)}
      {data && !data.ruleset && <p className="quiet">{t('console.rules.none')}</p>}
      {data?.ruleset && <Rules ruleset={data.ruleset} />}
      {data && data.groups.length > 0 && <Groups groups={data.groups} />}
    </section>
  );
}

function Rules({ ruleset: { currency, rules } }: { ruleset: NonNullable<Configuration['ruleset']> }): ReactNode {
  const t = useText();
  return (
    <Table
      name={t('console.rules.title')}
      rows={rules.map((rule, place) => ({ ...rule, place }))}
      rowKey={({ place }) => place}
      columns={[
        {
          key: 'from',
          title: t('console.rules.from'),
          numeric: true,
          cell: (rule) => <Money amount={decimal(rule, 'minimum_threshold') ?? '0'} currency={currency} />,
        },
        {
          key: 'who',
          title: t('console.rules.who'),
          cell: ({ groups }) =>
            groups.length === 0
              ? t('console.rules.nobody')
              : groups
                  .map(({ one_of: ways }) =>
                    ways.map(({ all_of: all }) => all.map(isolated).join(' + ')).join(t('console.rules.or')),
                  )
                  .join(t('console.rules.then')),
        },
      ]}
    />
  );
}

function Groups({ groups }: { groups: Configuration['groups'] }): ReactNode {
  const t = useText();
  return (
    <Table
      name={t('console.rules.groups')}
      rows={groups}
      rowKey={({ name }) => name}
      columns={[
        { key: 'name', title: t('console.rules.group'), cell: ({ name }) => <ForeignText>{name}</ForeignText> },
        {
          key: 'people',
          title: t('console.client.contacts'),
          cell: ({ users }) => (
            <ul className="plain">
              {users.map(({ id, name }) => (
                <li key={id}>
                  <ForeignText>{name}</ForeignText> (<IdLink to="contacts" id={id} />)
                </li>
              ))}
            </ul>
          ),
        },
      ]}
    />
  );
}

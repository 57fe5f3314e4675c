import { type ReactNode, useState } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { changedValues, givenValues } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import { AccountNumber } from '../lists/account-number.tsx';
import { State } from '../lists/links.tsx';
import { ClientInRow } from '../lists/named.tsx';
import { Records } from '../lists/records.tsx';
import { useWord } from '../lists/words.ts';
import { DETAILS_FIELDS, NEW_DETAILS_FIELDS } from './fields.ts';

type Details = Answered<'GET /account-details'>[number];

/** Where clients pay in: details for one client or for all. */
export function AccountDetailsPart(): ReactNode {
  const t = useText();
  const word = useWord();
  const [page, setPage] = useState(1);
  const name = t('console.word.account_details');
  return (
    <section className="card stack" aria-labelledby="account-details">
      <div className="row apart">
        <h2 id="account-details">{name}</h2>
        <SettingAct
          name={t('console.new.details')}
          scope="feed"
          facts={[]}
          fields={NEW_DETAILS_FIELDS}
          values={{ status: 'confirmed' }}
          sends="create"
          save={(body, { headers }) =>
            callOperator('POST /account-details', {
              body: givenValues(withRoutes(body)) as BodyOf<'POST /account-details'>,
              headers,
            })
          }
        />
      </div>
      <Records
        name={name}
        operation="GET /account-details"
        none={t('console.details.empty')}
        page={page}
        onPage={setPage}
        rowKey={(row) => row.account_details_id}
        columns={[
          { key: 'currency', title: t('console.col.currency'), cell: ({ currency }) => currency },
          {
            key: 'client',
            title: t('console.col.client'),
            cell: (row) => (row.client_id ? <ClientInRow id={row.client_id} /> : word('pooled')),
          },
          {
            key: 'account',
            title: t('console.col.iban'),
            cell: ({ international, domestic }) =>
              [international, domestic].map(
                (route) =>
                  route && (
                    <div key={route.account_number}>
                      <AccountNumber>{route.account_number}</AccountNumber>{' '}
                      <span className="small quiet">{route.bank_identifier}</span>
                    </div>
                  ),
              ),
          },
          {
            key: 'bank',
            title: t('console.payee.bank'),
            cell: (row) => <ForeignText>{row.financial_institution_name}</ForeignText>,
          },
          { key: 'status', title: t('console.col.status'), cell: ({ status }) => <State>{status}</State> },
          { key: 'act', title: t('console.col.action'), cell: (row) => <DetailsAct details={row} /> },
        ]}
      />
    </section>
  );
}

/** The body with single routes: the form edits each route as a list of one. */
function withRoutes(body: Record<string, unknown>): Record<string, unknown> {
  const first = (rows: unknown) => (rows as unknown[] | undefined)?.[0] ?? null;
  return { ...body, domestic: first(body.domestic), international: first(body.international) };
}

function DetailsAct({ details }: { details: Details }): ReactNode {
  const t = useText();
  const rows = (route: object | null) => (route ? [route] : []);
  return (
    <SettingAct
      name={t('console.act.change')}
      scope="feed"
      facts={[
        { name: t('console.word.account_details'), value: details.account_details_id },
        { name: t('console.col.currency'), value: details.currency },
      ]}
      fields={DETAILS_FIELDS}
      values={{ ...details, domestic: rows(details.domestic), international: rows(details.international) }}
      sends="replace"
      save={(body, { headers }) =>
        callOperator('PATCH /account-details/{account_details_id}', {
          path: { account_details_id: details.account_details_id },
          body: changedValues(withRoutes(body), details) as BodyOf<'PATCH /account-details/{account_details_id}'>,
          headers,
        })
      }
    />
  );
}

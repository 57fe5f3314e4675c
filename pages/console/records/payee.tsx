import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Day } from '../../design/moment.tsx';
import { useText } from '../../texts/text.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import { KnownFacts } from '../lists/known-facts.tsx';
import { NamedClient } from '../lists/named.tsx';
import { useWord } from '../lists/words.ts';
import { OneRecord } from './one-record.tsx';
import { RelatedPayments } from './related-payments.tsx';

type Payee = Answered<'GET /beneficiaries/{beneficiary_id}'>;

const FLAGS = [
  ['beneficiary_verified', 'console.payee.verified'],
  ['beneficiary_blocked', 'console.payee.blocked'],
  ['beneficiary_active', 'console.payee.active'],
  ['beneficiary_authorised', 'console.payee.authorised'],
  ['beneficiary_completed', 'console.payee.completed'],
] as const;
const FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'beneficiary_name', label: 'console.col.name', required: true, maxLength: 140 },
  { kind: 'text', name: 'currency', label: 'console.col.currency', maxLength: 3 },
  { kind: 'text', name: 'iban', label: 'console.payee.iban', maxLength: 64 },
  { kind: 'text', name: 'account_number', label: 'console.col.account', maxLength: 64 },
  { kind: 'text', name: 'swift_code', label: 'console.payee.bic', maxLength: 64 },
  { kind: 'text', name: 'bank_identifier', label: 'console.details.bank', maxLength: 64 },
  { kind: 'text', name: 'bank_country_code', label: 'console.schemes.country', maxLength: 2 },
  ...FLAGS.map(([name, label]) => ({ kind: 'flag', name, label }) as const),
];

/** A payee: its account, the institution's verdict on it, and the payments to it. */
export default function PayeePage(): ReactNode {
  return (
    <OneRecord
      kind="payee"
      title="console.payee.title"
      read={async (id, signal) => {
        const path = { beneficiary_id: id };
        const { body, headers } = await callOperator('GET /beneficiaries/{beneficiary_id}', { path, signal });
        return { payee: body, version: Number(/\d+/.exec(headers.get('etag') ?? '')?.[0]) || undefined };
      }}
      actions={({ payee, version }) => <PayeeAct payee={payee} version={version} />}
    >
      {({ payee }) => (
        <>
          <section className="card">
            <PayeeFacts payee={payee} />
          </section>
          <RelatedPayments query={{ client_id: payee.client_id, beneficiary_id: payee.beneficiary_id }} />
        </>
      )}
    </OneRecord>
  );
}

function PayeeFacts({ payee }: { payee: Payee }): ReactNode {
  const t = useText();
  const word = useWord();
  const foreign = (...texts: (string | null)[]) => {
    const text = texts.filter(Boolean).join(', ');
    return text ? <ForeignText>{text}</ForeignText> : null;
  };
  const address = foreign(payee.address_line_1, payee.city, payee.state_region, payee.post_code, payee.country_code);
  return (
    <KnownFacts
      facts={[
        { name: t('console.col.name'), value: foreign(payee.beneficiary_name) },
        { name: t('console.col.client'), value: <NamedClient id={payee.client_id} /> },
        { name: t('console.col.source'), value: word(payee.source) },
        { name: t('console.col.currency'), value: payee.currency },
        {
          name: t('console.col.iban'),
          value: payee.iban ? <Iban>{payee.iban}</Iban> : foreign(payee.account_number),
        },
        { name: t('console.payee.bic'), value: payee.swift_code },
        {
          name: t('console.payee.bank'),
          value: foreign(payee.bank_name, payee.bank_identifier, payee.bank_country_code),
        },
        { name: t('console.payee.address'), value: address },
        { name: t('console.payee.reference'), value: foreign(payee.beneficiary_reference) },
        { name: t('console.col.created'), value: <Day on={payee.created} /> },
        ...FLAGS.map(([name, label]) => ({ name: t(label), value: t(payee[name] ? 'console.yes' : 'console.no') })),
      ]}
    />
  );
}

/** Sets the institution's verdict on a payee. If somebody else has changed it meanwhile, it is read again. */
function PayeeAct({ payee, version }: { payee: Payee; version: number | undefined }): ReactNode {
  const t = useText();
  const { beneficiary_id: id } = payee;
  return (
    <SettingAct
      name={t('console.act.change')}
      scope="feed"
      facts={[
        { name: t('console.col.payee'), value: id },
        { name: t('console.col.name'), value: <ForeignText>{payee.beneficiary_name}</ForeignText> },
      ]}
      fields={FIELDS}
      values={payee}
      sends="change"
      save={(body, { headers }) =>
        callOperator('PATCH /beneficiaries/{beneficiary_id}', {
          path: { beneficiary_id: id },
          body: { ...body, ...(version ? { version } : {}) },
          headers,
        })
      }
    />
  );
}

import { type ReactNode, useState } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { QrCode } from '../../design/qr-code.tsx';
import { useText } from '../../texts/text.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';

type Contact = Answered<'GET /contacts/{contact_id}'>;
type Totp = NonNullable<Answered<'PATCH /contacts/{contact_id}'>['totp']>;

const FIELDS: readonly FieldForm[] = [
  {
    ...{ kind: 'choice', name: 'second_factor', label: 'console.col.secondFactor', options: ['sms', 'totp'] },
    hint: 'console.factor.hint',
  },
];

/** Gives a contact a second factor. The secret of an authenticator is shown once. */
export function SetSecondFactor({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const [totp, setTotp] = useState<Totp>();
  const { contact_id: id, name, phone } = contact;
  return (
    <>
      {contact.second_factor === 'none' && (
        <SettingAct
          name={t('console.act.setSecondFactor')}
          scope="identity"
          facts={[
            { name: t('console.col.contact'), value: id },
            { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
            { name: t('console.col.phone'), value: phone && <ForeignText>{phone}</ForeignText> },
          ]}
          fields={FIELDS}
          values={{}}
          sends="replace"
          save={async (body, { headers }) => {
            const answer = await callOperator('PATCH /contacts/{contact_id}', {
              path: { contact_id: id },
              body: body as BodyOf<'PATCH /contacts/{contact_id}'>,
              headers,
            });
            setTotp(answer.body.totp);
          }}
        />
      )}
      {totp && (
        <section className="card stack tight" aria-label={t('console.col.secondFactor')}>
          <p>{t('console.factor.shown')}</p>
          <QrCode text={totp.uri} name={t('console.factor.code')} />
          <code>{totp.secret}</code>
        </section>
      )}
    </>
  );
}

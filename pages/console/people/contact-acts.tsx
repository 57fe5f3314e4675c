import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { Act, type Given } from '../acts/act.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import { CONTACT_FIELDS } from '../clients/fields.ts';
import { useWord } from '../lists/words.ts';
import { Erase } from './erase.tsx';
import { SetSecondFactor } from './second-factor.tsx';

type Contact = Answered<'GET /contacts/{contact_id}'>;

/** The fields of a contact that staff may change. The second factor is a separate act. */
const CHANGED: readonly FieldForm[] = [
  ...CONTACT_FIELDS.filter(({ name }) => name !== 'second_factor'),
  { kind: 'flag', name: 'approval_mails', label: 'console.contact.mails' },
  { kind: 'flag', name: 'trusted_access', label: 'console.contact.trusted' },
];

/** The acts on a contact. */
export function ContactActs({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const word = useWord();
  const { contact_id: id, status, second_factor: factor } = contact;
  const path = { contact_id: id };
  const facts = [
    { name: t('console.col.contact'), value: id },
    { name: t('console.col.name'), value: <ForeignText>{contact.name}</ForeignText> },
    { name: t('console.col.email'), value: <ForeignText>{contact.email}</ForeignText> },
  ];
  const patch =
    (body: BodyOf<'PATCH /contacts/{contact_id}'>) =>
    async ({ headers }: Given) => {
      await callOperator('PATCH /contacts/{contact_id}', { path, body, headers });
      return undefined;
    };
  return (
    <>
      {status === 'enabled' && (
        <Act
          name={t('console.act.invite')}
          scope="identity"
          facts={facts}
          act={async ({ headers }) => {
            await callOperator('POST /contacts/{contact_id}/invite', { path, headers });
            return undefined;
          }}
        />
      )}
      <SettingAct
        name={t('console.act.change')}
        scope="identity"
        facts={facts}
        fields={CHANGED}
        values={contact}
        sends="change"
        save={(body, { headers }) =>
          callOperator('PATCH /contacts/{contact_id}', {
            path,
            body: body as BodyOf<'PATCH /contacts/{contact_id}'>,
            headers,
          })
        }
      />
      <Act
        name={t('console.act.unlock')}
        scope="unlock"
        facts={facts}
        act={async ({ headers }) => {
          await callOperator('POST /contacts/{contact_id}/unlock', { path, headers });
          return undefined;
        }}
      />
      <SetSecondFactor contact={contact} />
      {status === 'enabled' ? (
        <Act
          name={t('console.act.disable')}
          scope="identity"
          kind="danger"
          facts={facts}
          act={patch({ status: 'disabled' })}
        />
      ) : (
        <Act name={t('console.act.enable')} scope="identity" facts={facts} act={patch({ status: 'enabled' })} />
      )}
      {factor !== 'none' && (
        <Act
          name={t('console.act.resetSecondFactor')}
          scope="identity"
          kind="danger"
          facts={[...facts, { name: t('console.col.secondFactor'), value: word(factor) }]}
          act={patch({ second_factor: 'none' })}
        />
      )}
      <Erase contact={contact} />
    </>
  );
}

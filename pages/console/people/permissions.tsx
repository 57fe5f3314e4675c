import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { SettingAct } from '../acts/setting-act.tsx';
import { PERMISSIONS_FIELD } from '../clients/fields.ts';

type Contact = Answered<'GET /contacts/{contact_id}'>;

/** Changes what a contact may do for one of its clients; the others stay. */
export function Permissions({ contact, clientId }: { contact: Contact; clientId: string }): ReactNode {
  const t = useText();
  const { contact_id: id, clients } = contact;
  const values = clients.find(({ client_id: client }) => client === clientId) ?? {};
  return (
    <SettingAct
      name={t('console.act.setPermissions')}
      scope="identity"
      facts={[
        { name: t('console.col.contact'), value: id },
        { name: t('console.col.name'), value: <ForeignText>{contact.name}</ForeignText> },
        { name: t('console.col.client'), value: clientId },
      ]}
      fields={[PERMISSIONS_FIELD]}
      values={values}
      sends="replace"
      save={({ permissions }, { headers }) => {
        const after = clients.map((each) => (each.client_id === clientId ? { ...each, permissions } : each));
        return callOperator('PATCH /contacts/{contact_id}', {
          path: { contact_id: id },
          body: { clients: after } as BodyOf<'PATCH /contacts/{contact_id}'>,
          headers,
        });
      }}
    />
  );
}

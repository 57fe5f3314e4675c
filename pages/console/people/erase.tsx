import type { ReactNode } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';

type Contact = Answered<'GET /contacts/{contact_id}'>;

/** Erases the personal data of a disabled contact. It cannot be undone. */
export function Erase({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const { contact_id: id, name, email, status } = contact;
  if (status !== 'disabled') return null;
  return (
    <Act
      name={t('console.act.erase')}
      scope="system"
      kind="danger"
      facts={[
        { name: t('console.col.contact'), value: id },
        { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
        { name: t('console.col.email'), value: <ForeignText>{email}</ForeignText> },
        { name: t('console.erase.means'), value: t('console.erase.means.text') },
      ]}
      act={async ({ headers }) => {
        await callOperator('POST /contacts/{contact_id}/erase', { path: { contact_id: id }, headers });
        return t('console.erase.begun');
      }}
    />
  );
}

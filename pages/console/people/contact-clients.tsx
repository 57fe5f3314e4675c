import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Table } from '../../design/table.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import { PERMISSIONS_FIELD, USUAL_PERMISSIONS } from '../clients/fields.ts';
import { ClientInRow } from '../lists/named.tsx';
import { useWords } from '../lists/words.ts';

type Contact = Answered<'GET /contacts/{contact_id}'>;

/** The clients that a contact acts for, and its permissions there. */
export function ContactClients({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  const words = useWords();
  return (
    <section className="card stack" aria-labelledby="clients">
      <div className="row apart">
        <h2 id="clients">{t('console.contact.clients')}</h2>
        <AddClient contact={contact} />
      </div>
      {contact.clients.length === 0 && <p className="quiet">{t('console.contact.noClients')}</p>}
      {contact.clients.length > 0 && (
        <Table
          name={t('console.contact.clients')}
          rows={contact.clients}
          rowKey={({ client_id: client }) => client}
          columns={[
            {
              key: 'client',
              title: t('console.col.client'),
              cell: (row) => <ClientInRow id={row.client_id} />,
            },
            {
              key: 'permissions',
              title: t('console.col.permissions'),
              cell: ({ permissions }) => words(permissions) || t('console.contact.noPermissions'),
            },
            {
              key: 'act',
              title: t('console.col.action'),
              cell: (row) => (
                <span className="row end">
                  <SetPermissions contact={contact} clientId={row.client_id} />
                  <RemoveClient contact={contact} clientId={row.client_id} />
                </span>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** A change must list all clients of a contact. */
function setClients(
  { contact_id: id }: Contact,
  clients: unknown[],
  headers: Record<string, string>,
): Promise<unknown> {
  return callOperator('PATCH /contacts/{contact_id}', {
    path: { contact_id: id },
    body: { clients } as BodyOf<'PATCH /contacts/{contact_id}'>,
    headers,
  });
}

function useFacts({ contact_id: id, name }: Contact, clientId?: string) {
  const t = useText();
  return [
    { name: t('console.col.contact'), value: id },
    { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
    ...(clientId === undefined ? [] : [{ name: t('console.col.client'), value: clientId }]),
  ];
}

const CLIENT_FIELD: FieldForm = {
  ...{ kind: 'text', name: 'client_id', label: 'console.col.client', hint: 'console.contact.client.hint' },
  ...{ required: true, maxLength: 64 },
};

function AddClient({ contact }: { contact: Contact }): ReactNode {
  const t = useText();
  return (
    <SettingAct
      name={t('console.act.addClient')}
      scope="identity"
      facts={useFacts(contact)}
      fields={[CLIENT_FIELD, PERMISSIONS_FIELD]}
      values={{ permissions: USUAL_PERMISSIONS }}
      sends="replace"
      save={(added, { headers }) => setClients(contact, [...contact.clients, added], headers)}
    />
  );
}

interface OfClient {
  contact: Contact;
  clientId: string;
}

/** Changes a contact's permissions for one of its clients; the other clients stay as they are. */
function SetPermissions({ contact, clientId }: OfClient): ReactNode {
  const t = useText();
  const { clients } = contact;
  return (
    <SettingAct
      name={t('console.act.setPermissions')}
      scope="identity"
      facts={useFacts(contact, clientId)}
      fields={[PERMISSIONS_FIELD]}
      values={clients.find(({ client_id: client }) => client === clientId) ?? {}}
      sends="replace"
      save={({ permissions }, { headers }) => {
        const after = clients.map((each) => (each.client_id === clientId ? { ...each, permissions } : each));
        return setClients(contact, after, headers);
      }}
    />
  );
}

/** Stops a contact from acting for a client. */
function RemoveClient({ contact, clientId }: OfClient): ReactNode {
  const t = useText();
  const rest = contact.clients.filter(({ client_id: client }) => client !== clientId);
  return (
    <Act
      name={t('console.act.removeClient')}
      scope="identity"
      kind="danger"
      facts={useFacts(contact, clientId)}
      act={async ({ headers }) => {
        await setClients(contact, rest, headers);
        return undefined;
      }}
    />
  );
}

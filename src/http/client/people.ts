import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { CLIENT_CONTACT, clientContact, clientContacts } from '../../identity/people/client-contacts.ts';
import { PERMISSIONS } from '../../identity/people/permission.ts';
import { operation, serve } from '../schemas/operation.ts';
import { ClientQuery, errors, idPath, jsonAnswer } from '../schemas/schemas.ts';

const OwnClient = Type.Object(
  {
    client_id: Type.String(),
    client_name: Type.String(),
    status: Type.Enum(['Active', 'Blocked']),
    permissions: Type.Array(Type.Enum([...PERMISSIONS]), { description: 'What the contact may do for it' }),
  },
  {
    title: 'OwnClient',
    examples: [
      { client_id: 'CLI000001', client_name: 'Acme Ltd', status: 'Active', permissions: ['can_authorise_payments'] },
    ],
  },
);
const Contact = Type.Object(CLIENT_CONTACT.properties, {
  title: 'Contact',
  examples: [
    {
      contact_id: 'CON000001',
      name: 'Ada Ashdown',
      email_address: 'ada@ashdown.example',
      language: 'en',
      ...Object.fromEntries(PERMISSIONS.map((name) => [name, true])),
    },
  ],
});

const LIST_CLIENTS = operation('GET /clients', {
  config: { clientless: true },
  schema: {
    operationId: 'listClients',
    tags: ['clients'],
    summary: 'List the clients of the contact, and what it may do for each',
    response: { 200: jsonAnswer('The clients', Type.Array(OwnClient)), ...errors(403, 502) },
  },
});

const LIST_CONTACTS = operation('GET /contacts', {
  schema: {
    operationId: 'listContacts',
    tags: ['clients'],
    summary: 'List the enabled contacts of the client',
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The contacts', Type.Array(Contact)), ...errors(400, 403, 404, 502) },
  },
});

const READ_CONTACT = operation('GET /contacts/{contact_id}', {
  schema: {
    operationId: 'getContact',
    tags: ['clients'],
    summary: 'Read an enabled contact of the client',
    params: idPath('contact_id'),
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The contact', Contact), ...errors(400, 403, 404, 502, 'contact_not_found') },
  },
});

/** The clients for which the calling contact acts, and the other people who act for them. */
export function peopleRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST_CLIENTS, ({ caller }) =>
    [...caller.session.clients].map(([clientId, { name, enabled, permissions }]) => ({
      client_id: clientId,
      client_name: name,
      status: enabled ? ('Active' as const) : ('Blocked' as const),
      permissions: PERMISSIONS.filter((permission) => permissions[permission]),
    })),
  );
  serve(app, LIST_CONTACTS, ({ caller }) => clientContacts(pool, caller.clientId));
  serve(app, READ_CONTACT, ({ caller, params }) => clientContact(pool, caller.clientId, params.contact_id));
}

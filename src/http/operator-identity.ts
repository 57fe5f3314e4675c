import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { refreshApprovers } from '../approvals/workflow.ts';
import { isCalendarDay, parseInstant } from '../calendar.ts';
import type { Context } from '../context.ts';
import { Problem } from '../errors.ts';
import {
  createApplication,
  findApplication,
  LONGEST_SECRET_OVERLAP,
  LONGEST_URI,
  listApplications,
  MOST_CERTIFICATE_SUBJECTS,
  MOST_REDIRECT_URIS,
  MOST_TRUSTED_CLIENTS,
  rotateSecret,
  updateApplication,
} from '../identity/application.ts';
import { AUTHORISATION_WORKFLOWS, createClient, findClient, listClients, updateClient } from '../identity/client.ts';
import {
  type ContactGiven,
  createContact,
  findContact,
  listContacts,
  MOST_CLIENTS_OF_CONTACT,
  PERMISSIONS,
  updateContact,
} from '../identity/contact.ts';
import { hashPassword, PASSWORD_LEAST, PASSWORD_MOST } from '../identity/password.ts';
import { newTotp } from '../identity/second-factor.ts';
import { createOperatorToken, listOperatorTokens, OPERATOR_ROLES, revokeOperatorToken } from '../operator/token.ts';
import { change, FEED, READ } from './operator.ts';
import { ClientId, Day, errors, Id, Instant, Nullable, Paging, Text } from './schemas.ts';

const closed = { additionalProperties: false };

const ClientFields = {
  client_name: Text('Name of the client'),
  account_number: Type.Optional(Nullable(Text('Number that the institution knows the client by', 64))),
  status: Type.Optional(Type.Enum(['enabled', 'disabled'])),
  fx_enabled: Type.Optional(Type.Boolean({ description: 'The client may trade FX' })),
  mass_payments_customer: Type.Optional(
    Type.Boolean({ description: 'A customer of the mass payments offering: no onboarding notifications' }),
  ),
  authorisation_workflow: Type.Optional(Type.Enum([...AUTHORISATION_WORKFLOWS])),
  payment_approvals_enabled: Type.Optional(Type.Boolean()),
  payment_creator_approval_enabled: Type.Optional(Type.Boolean()),
  statement_push_url: Type.Optional(
    Nullable(Type.String({ maxLength: 2_048, description: 'Where pushed statements are put' })),
  ),
  statement_push_secret: Type.Optional(
    Nullable(Type.String({ maxLength: 512, description: 'Signs pushed statements; never shown again' })),
  ),
  became_client: Type.Optional(Nullable(Day('When it became a client'))),
};
export const ClientBody = Type.Object(
  { client_id: Type.Optional(Id('Given by the core, else made')), ...ClientFields },
  {
    ...closed,
    examples: [{ client_name: 'Acme Ltd', authorisation_workflow: '4-eyes', payment_approvals_enabled: true }],
  },
);
const ClientPatch = Type.Partial(Type.Object(ClientFields), closed);

const ContactClients = Type.Array(
  Type.Object(
    { client_id: ClientId, permissions: Type.Optional(Type.Array(Type.Enum([...PERMISSIONS]), { uniqueItems: true })) },
    closed,
  ),
  {
    maxItems: MOST_CLIENTS_OF_CONTACT,
    description: 'The clients it acts for; all five permissions where none are named',
  },
);
const ContactFields = {
  name: Text('Name'),
  email: Type.String({
    pattern: '^[^\\s@<>"]+@[^\\s@<>"]+$',
    maxLength: 254,
    description: 'Unique, whatever its case',
  }),
  password: Type.Optional(Type.String({ minLength: PASSWORD_LEAST, maxLength: PASSWORD_MOST })),
  phone: Type.Optional(Nullable(Type.String({ pattern: '^\\+?[0-9 ()-]{4,32}$' }))),
  status: Type.Optional(Type.Enum(['enabled', 'disabled'])),
  second_factor: Type.Optional(Type.Enum(['none', 'totp', 'sms'])),
  trusted_access: Type.Optional(Type.Boolean({ description: 'An institution may get tokens for it over mutual TLS' })),
  clients: ContactClients,
};
export const ContactBody = Type.Object(
  { contact_id: Type.Optional(Id('Given by the core, else made')), ...ContactFields },
  {
    ...closed,
    examples: [
      {
        name: 'Ada Byron',
        email: 'ada@acme.example',
        password: 'correct horse battery',
        clients: [{ client_id: 'CLI000001' }],
      },
    ],
  },
);
const ContactPatch = Type.Partial(Type.Object(ContactFields), closed);

const Uris = Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_URI }), { maxItems: MOST_REDIRECT_URIS });
const ApplicationFields = {
  name: Text('Name'),
  redirect_uris: Type.Array(Type.String({ minLength: 1, maxLength: LONGEST_URI }), {
    minItems: 1,
    maxItems: MOST_REDIRECT_URIS,
    description: 'Compared exactly',
  }),
  post_logout_redirect_uris: Type.Optional(Uris),
  refresh_token_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
  headless_sign_in: Type.Optional(
    Type.Boolean({ description: 'It may post email and password itself; true by default' }),
  ),
  require_pkce: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.Enum(['enabled', 'disabled'])),
  certificate_subjects: Type.Optional(
    Type.Array(Type.String({ minLength: 3, maxLength: 1_024 }), {
      maxItems: MOST_CERTIFICATE_SUBJECTS,
      description: 'Subject DNs, RFC 4514, most specific part first',
    }),
  ),
  trusted_clients: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: MOST_TRUSTED_CLIENTS,
      description: 'Clients whose contacts it may act for over mutual TLS',
    }),
  ),
};
const ApplicationBody = Type.Object(
  { client_id: Type.Optional(Id('OAuth client_id; given, else made')), ...ApplicationFields },
  { ...closed, examples: [{ name: 'Treasury desk', redirect_uris: ['https://treasury.example/callback'] }] },
);
const ApplicationPatch = Type.Partial(Type.Object(ApplicationFields), closed);

const TokenBody = Type.Object(
  {
    name: Text('Name', 64),
    role: Type.Enum([...OPERATOR_ROLES]),
    expires_at: Type.Optional(Instant('When it stops working')),
  },
  { ...closed, examples: [{ name: 'core feed', role: 'core' }] },
);
const SecretBody = Type.Object(
  { overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: LONGEST_SECRET_OVERLAP })) },
  closed,
);

const PageQuery = Type.Object(Paging);
const ClientPageQuery = Type.Object({ ...Paging, client_id: Type.Optional(Type.String({ minLength: 1 })) });
const idPath = (name: string) => Type.Object({ [name]: Type.String() });

/** Clients, contacts, applications and operator tokens (docs/operator-interface.md). */
export function operatorIdentityRoutes(app: FastifyInstance, context: Context): void {
  const { pool, vault } = context;

  app.post<{ Body: Static<typeof ClientBody> }>(
    '/clients',
    {
      config: FEED,
      schema: { tags: ['clients'], summary: 'Create a client', body: ClientBody, response: errors(400, 409, 502) },
    },
    (request, reply) =>
      change(request, reply, context, 201, (tx, act) =>
        createClient(tx, act, vault, checkedClient(request.body, context)),
      ),
  );
  app.get<{ Querystring: { page: number; page_size: number } }>(
    '/clients',
    {
      config: READ,
      schema: { tags: ['clients'], summary: 'List clients', querystring: PageQuery, response: errors(400, 502) },
    },
    async (request, reply) => {
      const list = await listClients(pool, request.query.page, request.query.page_size);
      return reply.header('x-total-count', list.total).send(list.rows);
    },
  );
  app.get<{ Params: { client_id: string } }>(
    '/clients/:client_id',
    {
      config: READ,
      schema: { tags: ['clients'], summary: 'Read a client', params: idPath('client_id'), response: errors(404, 502) },
    },
    (request) => findClient(pool, request.params.client_id),
  );
  app.patch<{ Params: { client_id: string }; Body: Static<typeof ClientPatch> }>(
    '/clients/:client_id',
    {
      config: FEED,
      schema: {
        tags: ['clients'],
        summary: 'Change a client',
        params: idPath('client_id'),
        body: ClientPatch,
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, async (tx, act) => {
        const client = await updateClient(
          tx,
          act,
          vault,
          request.params.client_id,
          checkedClient(request.body, context),
        );
        await refreshApprovers(tx, client.client_id, act.now);
        return client;
      }),
  );

  app.post<{ Body: Static<typeof ContactBody> }>(
    '/contacts',
    {
      config: FEED,
      schema: {
        tags: ['contacts'],
        summary: 'Create a contact',
        body: ContactBody,
        response: errors(400, 404, 409, 502),
      },
    },
    async (request, reply) => {
      const { password, ...given } = request.body;
      const passwordHash = password === undefined ? null : await hashPassword(password);
      const totp = given.second_factor === 'totp' ? newTotp(context.config.institution.name, given.email) : undefined;
      return change(request, reply, context, 201, async (tx, act) => {
        const contact = await createContact(tx, act, vault, {
          ...given,
          passwordHash,
          totpSecret: totp?.secret,
        } as ContactGiven);
        await refreshAll(
          tx,
          contact.clients.map((client) => client.client_id),
          act.now,
        );
        return totp ? { ...contact, totp } : contact;
      });
    },
  );
  app.get<{ Querystring: { page: number; page_size: number; client_id?: string } }>(
    '/contacts',
    {
      config: READ,
      schema: {
        tags: ['contacts'],
        summary: 'List contacts',
        querystring: ClientPageQuery,
        response: errors(400, 502),
      },
    },
    async (request, reply) => {
      const list = await listContacts(pool, request.query.page, request.query.page_size, request.query.client_id);
      return reply.header('x-total-count', list.total).send(list.rows);
    },
  );
  app.get<{ Params: { contact_id: string } }>(
    '/contacts/:contact_id',
    {
      config: READ,
      schema: {
        tags: ['contacts'],
        summary: 'Read a contact',
        params: idPath('contact_id'),
        response: errors(404, 502),
      },
    },
    (request) => findContact(pool, request.params.contact_id),
  );
  app.patch<{ Params: { contact_id: string }; Body: Static<typeof ContactPatch> }>(
    '/contacts/:contact_id',
    {
      config: FEED,
      schema: {
        tags: ['contacts'],
        summary: 'Change a contact',
        params: idPath('contact_id'),
        body: ContactPatch,
        response: errors(400, 404, 409, 502),
      },
    },
    async (request, reply) => {
      const { password, ...patch } = request.body;
      const passwordHash = password === undefined ? undefined : await hashPassword(password);
      return change(request, reply, context, 200, async (tx, act) => {
        const before = await findContact(tx, request.params.contact_id);
        const enrols = patch.second_factor === 'totp' && before.second_factor !== 'totp';
        const totp = enrols ? newTotp(context.config.institution.name, patch.email ?? before.email) : undefined;
        const { contact, touchedClients } = await updateContact(tx, act, vault, request.params.contact_id, {
          ...patch,
          passwordHash,
          totpSecret: totp?.secret,
        } as Partial<ContactGiven>);
        await refreshAll(tx, touchedClients, act.now);
        return totp ? { ...contact, totp } : contact;
      });
    },
  );

  app.post<{ Body: Static<typeof ApplicationBody> }>(
    '/applications',
    {
      schema: {
        tags: ['applications'],
        summary: 'Register an application',
        body: ApplicationBody,
        response: errors(400, 404, 409, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, (tx, act) => createApplication(tx, act, vault, request.body)),
  );
  app.get<{ Querystring: { page: number; page_size: number } }>(
    '/applications',
    {
      config: READ,
      schema: {
        tags: ['applications'],
        summary: 'List applications',
        querystring: PageQuery,
        response: errors(400, 502),
      },
    },
    async (request, reply) => {
      const list = await listApplications(pool, request.query.page, request.query.page_size);
      return reply.header('x-total-count', list.total).send(list.rows);
    },
  );
  app.get<{ Params: { client_id: string } }>(
    '/applications/:client_id',
    {
      config: READ,
      schema: {
        tags: ['applications'],
        summary: 'Read an application',
        params: idPath('client_id'),
        response: errors(404, 502),
      },
    },
    (request) => findApplication(pool, request.params.client_id),
  );
  app.patch<{ Params: { client_id: string }; Body: Static<typeof ApplicationPatch> }>(
    '/applications/:client_id',
    {
      schema: {
        tags: ['applications'],
        summary: 'Change an application',
        params: idPath('client_id'),
        body: ApplicationPatch,
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 200, (tx, act) =>
        updateApplication(tx, act, request.params.client_id, request.body),
      ),
  );
  app.post<{ Params: { client_id: string }; Body: Static<typeof SecretBody> | undefined }>(
    '/applications/:client_id/secret',
    {
      schema: {
        tags: ['applications'],
        summary: 'Make a new secret',
        description: 'The old secret lives on for `overlap_seconds`.',
        params: idPath('client_id'),
        body: Type.Optional(SecretBody),
        response: errors(400, 404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 201, async (tx, act) => {
        const overlap = request.body?.overlap_seconds ?? 0;
        const secret = await rotateSecret(tx, act, vault, request.params.client_id, overlap);
        return { client_id: request.params.client_id, client_secret: secret, overlap_seconds: overlap };
      }),
  );

  app.post<{ Body: Static<typeof TokenBody> }>(
    '/operator-tokens',
    {
      schema: {
        tags: ['operator tokens'],
        summary: 'Make an operator token',
        body: TokenBody,
        response: errors(400, 502),
      },
    },
    (request, reply) => {
      const expiresAt = request.body.expires_at === undefined ? undefined : parseInstant(request.body.expires_at);
      if (request.body.expires_at !== undefined && !expiresAt)
        throw new Problem('invalid_body', 'body.expires_at: must be an ISO 8601 timestamp with an offset');
      return change(request, reply, context, 201, (tx, act) =>
        createOperatorToken(tx, act, { name: request.body.name, role: request.body.role, expiresAt }),
      );
    },
  );
  app.get(
    '/operator-tokens',
    { schema: { tags: ['operator tokens'], summary: 'List the tokens in force', response: errors(502) } },
    (request) => listOperatorTokens(pool, request.now),
  );
  app.delete<{ Params: { id: string } }>(
    '/operator-tokens/:id',
    {
      schema: {
        tags: ['operator tokens'],
        summary: 'Revoke a token',
        params: idPath('id'),
        response: errors(404, 502),
      },
    },
    (request, reply) =>
      change(request, reply, context, 204, async (tx, act) => revokeOperatorToken(tx, act, request.params.id)),
  );
}

/** The order is fixed, so that two changes at once cannot wait for each other. */
async function refreshAll(tx: Parameters<typeof refreshApprovers>[0], clientIds: string[], now: Date): Promise<void> {
  for (const clientId of [...clientIds].sort()) await refreshApprovers(tx, clientId, now);
}

/** What the schema cannot say of a client's fields. @throws Problem invalid_body */
export function checkedClient<T extends { statement_push_url?: string | null; became_client?: string | null }>(
  given: T,
  context: Context,
): T {
  const url = given.statement_push_url;
  const protocols = context.config.environment === 'sandbox' ? ['https:', 'http:'] : ['https:'];
  if (
    url &&
    (!URL.canParse(url) || !protocols.includes(new URL(url).protocol) || new URL(url).username || new URL(url).hash)
  ) {
    throw new Problem(
      'invalid_body',
      `body.statement_push_url: must be an address with ${protocols.join(' or ')}, without user and fragment`,
    );
  }
  if (given.became_client && !isCalendarDay(given.became_client))
    throw new Problem('invalid_body', 'body.became_client: must be a calendar day, YYYY-MM-DD');
  return given;
}

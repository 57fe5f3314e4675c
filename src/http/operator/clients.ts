import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  AUTHORISATION_WORKFLOWS,
  checkClient,
  createClient,
  findClient,
  listClients,
  updateClient,
} from '../../identity/people/client.ts';
import { hasApprovalFields, scopesOfClientChange } from '../../operator/scope.ts';
import { ClientId, closed, Day, formed, Id, Name, Nullable, Text } from '../../values/schemas.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, idPath, jsonAnswer, listAnswer, type Page, Paging } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { READ } from './listener.ts';

const ClientFields = {
  client_name: Name('Name of the client'),
  account_number: Type.Optional(Nullable(Text('The institution’s number for the client', 64))),
  status: Type.Optional(Type.Enum(['enabled', 'disabled'])),
  fx_enabled: Type.Optional(Type.Boolean({ description: 'The client may trade FX' })),
  mass_payments_customer: Type.Optional(
    Type.Boolean({ description: 'A customer of the mass payments offering, who gets no onboarding notifications' }),
  ),
  authorisation_workflow: Type.Optional(Type.Enum([...AUTHORISATION_WORKFLOWS])),
  payment_approvals_enabled: Type.Optional(Type.Boolean()),
  payment_creator_approval_enabled: Type.Optional(Type.Boolean()),
  approval_step_up: Type.Optional(
    Type.Boolean({ description: 'An approval needs a verification code that is tied to the payment' }),
  ),
  statement_push_url: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 2_048,
        description: 'Where pushed statements are put: https (http too in a sandbox), without a user or a fragment',
        ...formed({ type: 'string', format: 'uri', pattern: '^https?://', maxLength: 2_048 }),
      }),
    ),
  ),
  statement_push_secret: Type.Optional(
    Nullable(Type.String({ maxLength: 512, description: 'Signs pushed statements; never shown again' })),
  ),
  became_client: Type.Optional(Nullable(Day('When it became a client'))),
};
export const ClientBody = Type.Object(
  { client_id: Type.Optional(Id('Chosen by the core; default: a new one')), ...ClientFields },
  {
    ...closed,
    title: 'ClientInput',
    examples: [{ client_name: 'Acme Ltd', authorisation_workflow: '4-eyes', payment_approvals_enabled: true }],
  },
);
const ClientPatch = Type.Partial(Type.Object(ClientFields), { ...closed, title: 'ClientPatch' });
const Client = Type.Object(
  {
    client_id: ClientId,
    client_name: Type.String(),
    account_number: Nullable(Type.String({ description: 'The institution’s number for the client' })),
    status: Type.Enum(['enabled', 'disabled']),
    fx_enabled: Type.Boolean(),
    mass_payments_customer: Type.Boolean(),
    authorisation_workflow: Type.Enum([...AUTHORISATION_WORKFLOWS]),
    payment_approvals_enabled: Type.Boolean(),
    payment_creator_approval_enabled: Type.Boolean(),
    approval_step_up: Type.Boolean({ description: 'An approval needs a verification code' }),
    statement_push_url: Nullable(Type.String()),
    became_client: Nullable(Type.String({ format: 'date' })),
  },
  {
    title: 'Client',
    examples: [
      {
        client_id: 'CLI000001',
        client_name: 'Acme Ltd',
        account_number: '10001',
        status: 'enabled',
        fx_enabled: true,
        mass_payments_customer: false,
        authorisation_workflow: '4-eyes',
        payment_approvals_enabled: true,
        payment_creator_approval_enabled: false,
        approval_step_up: false,
        statement_push_url: null,
        became_client: '2026-07-01',
      },
    ],
  },
);

/** The body of a request before it is checked: an object, or nothing that could name a field. */
const fieldsOf = (body: unknown): object => (typeof body === 'object' && body !== null ? body : {});

const ClientList = Type.Object({
  ...Paging,
  q: Type.Optional(Text('A part of the name, the identifier or the account number', 128)),
});

const CREATE = {
  config: {
    scopesOf: ({ body }: FastifyRequest) =>
      hasApprovalFields(fieldsOf(body)) ? ['feed' as const, 'approvals' as const] : ['feed' as const],
    location: '/clients/{client_id}',
  },
  schema: {
    operationId: 'createClient',
    tags: ['clients'],
    summary: 'Create a client',
    body: ClientBody,
    response: { 201: jsonAnswer('The client', Client), ...errors(400, 409, 502, 'already_exists') },
  },
};

const LIST = {
  config: READ,
  schema: {
    operationId: 'listClients',
    tags: ['clients'],
    summary: 'List clients',
    querystring: ClientList,
    response: { 200: listAnswer('A page of clients', Client), ...errors(400, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getClient',
    tags: ['clients'],
    summary: 'Read a client',
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The client', Client), ...errors(404, 502, 'client_not_found') },
  },
};

const CHANGE = {
  config: { scopesOf: ({ body }: FastifyRequest) => scopesOfClientChange(fieldsOf(body)) },
  schema: {
    operationId: 'updateClient',
    tags: ['clients'],
    summary: 'Change a client',
    params: idPath('client_id'),
    body: ClientPatch,
    response: { 200: jsonAnswer('The client', Client), ...errors(400, 404, 502, 'client_not_found') },
  },
};

/** The institution's clients (docs/operator-interface.md). */
export function operatorClientRoutes(app: FastifyInstance, context: Context): void {
  const { pool, vault } = context;
  const { environment } = context.config;
  app.post<{ Body: Static<typeof ClientBody> }>(
    '/clients',
    CREATE,
    change(context, 201, async (tx, act, { body }) => {
      checkClient(body, environment);
      return createClient(tx, act, vault, body);
    }),
  );
  app.get<{ Querystring: Page & { q?: string } }>('/clients', LIST, async ({ query }, reply) =>
    sendList(reply, await listClients(pool, { page: query.page, pageSize: query.page_size, q: query.q })),
  );
  app.get<{ Params: { client_id: string } }>('/clients/:client_id', READ_ONE, (request) =>
    findClient(pool, request.params.client_id),
  );
  app.patch<{ Params: { client_id: string }; Body: Static<typeof ClientPatch> }>(
    '/clients/:client_id',
    CHANGE,
    change(context, 200, async (tx, act, { params, body }) => {
      checkClient(body, environment);
      return updateClient(tx, act, vault, { clientId: params.client_id, patch: body });
    }),
  );
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  CLIENT,
  checkClient,
  createClient,
  findClient,
  listClients,
  updateClient,
} from '../../identity/people/client.ts';
import { requireClient } from '../../identity/people/tenant.ts';
import { hasApprovalFields, scopesOfClientChange } from '../../operator/scope.ts';
import { DAY_USE, readDayUse } from '../../payments/orders/daily-limit.ts';
import { closed, Text } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, idPath, jsonAnswer, listAnswer, listRequest, Paging, Status } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { READ } from './listener.ts';

export const ClientBody = Type.Object(CLIENT.given(), {
  ...closed,
  title: 'ClientInput',
  examples: [{ client_name: 'Acme Ltd', authorisation_workflow: '4-eyes', payment_approvals_enabled: true }],
});
const ClientPatch = Type.Partial(Type.Object(CLIENT.changed), { ...closed, title: 'ClientPatch' });
const ClientRecord = Type.Object(CLIENT.shown, {
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
      daily_payment_limit: null,
      statement_push_url: null,
      became_client: '2026-07-01',
    },
  ],
});

/** The body of an unchecked request as an object; an empty object if it is not one. */
const fieldsOf = (body: unknown): object => (typeof body === 'object' && body !== null ? body : {});

const DayUse = Type.Object(DAY_USE, {
  title: 'DayUse',
  examples: [
    {
      day: '2026-07-01',
      limit: { amount: 50_000, currency: 'GBP' },
      used: 1_250.5,
      orders: [{ currency: 'GBP', amount: 1_250.5 }],
    },
  ],
});
const ClientList = Type.Object({
  ...Paging,
  q: Type.Optional(Text('A part of the name, the identifier or the account number', 128)),
  status: Type.Optional(Status),
});

const CREATE = operation('POST /clients', {
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
    response: { 201: jsonAnswer('The client', ClientRecord), ...errors(400, 409, 502, 'already_exists') },
  },
});

const LIST = operation('GET /clients', {
  config: READ,
  schema: {
    operationId: 'listClients',
    tags: ['clients'],
    summary: 'List clients',
    querystring: ClientList,
    response: { 200: listAnswer('A page of clients', ClientRecord), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /clients/{client_id}', {
  config: READ,
  schema: {
    operationId: 'getClient',
    tags: ['clients'],
    summary: 'Read a client',
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The client', ClientRecord), ...errors(404, 502, 'client_not_found') },
  },
});

const READ_USE = operation('GET /clients/{client_id}/daily-use', {
  config: READ,
  schema: {
    operationId: 'getDailyUse',
    tags: ['clients'],
    summary: "Read what a client's contacts have ordered today, and how much of the limit that is",
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The use', DayUse), ...errors(404, 502, 'client_not_found') },
  },
});

const CHANGE = operation('PATCH /clients/{client_id}', {
  config: { scopesOf: ({ body }: FastifyRequest) => scopesOfClientChange(fieldsOf(body)) },
  schema: {
    operationId: 'updateClient',
    tags: ['clients'],
    summary: 'Change a client',
    params: idPath('client_id'),
    body: ClientPatch,
    response: { 200: jsonAnswer('The client', ClientRecord), ...errors(400, 404, 502, 'client_not_found') },
  },
});

export type ClientOperations = typeof CREATE | typeof LIST | typeof READ_ONE | typeof READ_USE | typeof CHANGE;

/** The institution's clients (docs/operator-interface.md). */
export function operatorClientRoutes(app: FastifyInstance, context: Context): void {
  const { pool, vault } = context;
  const { environment } = context.config;
  serve(
    app,
    CREATE,
    change(context, 201, async (tx, act, { body }) => {
      checkClient(body, environment);
      return createClient(tx, act, vault, body);
    }),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listClients(pool, { ...listRequest(query), q: query.q, status: query.status })),
  );
  serve(app, READ_ONE, (request) => findClient(pool, request.params.client_id));
  serve(app, READ_USE, async ({ params, now }) => {
    await requireClient(pool, params.client_id);
    return readDayUse(pool, params.client_id, now);
  });
  serve(
    app,
    CHANGE,
    change(context, 200, async (tx, act, { params, body }) => {
      checkClient(body, environment);
      return updateClient(tx, act, vault, { clientId: params.client_id, patch: body });
    }),
  );
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { listClients } from '../../identity/client.ts';
import { listContacts, readContacts } from '../../identity/contact.ts';
import { paymentsNamed } from '../../payments/named.ts';
import { listRefusedRequests } from '../../refused-requests.ts';
import { isUuid } from '../../uuid.ts';
import { findNotification } from '../../webhooks/history.ts';
import { closed, errors, jsonAnswer, Nullable, Text } from '../schemas.ts';
import { READ } from './listener.ts';

/** Finds of one kind. */
const MAX_FINDS = 20;
const PAGE = { page: 1, pageSize: MAX_FINDS };

const SearchBody = Type.Object(
  { q: Text('A payment id, UETR or reference; an email; a client; a contact; a request id; a notification id', 254) },
  { ...closed, title: 'FindInput', examples: [{ q: 'PAY000001' }] },
);
const Find = Type.Object(
  {
    kind: Type.Enum(['payment', 'client', 'contact', 'request', 'notification']),
    id: Type.String(),
    client_id: Nullable(Type.String()),
    title: Type.String({ description: 'The name, or what it is' }),
    detail: Type.String({ description: 'What tells it from others' }),
    status: Nullable(Type.String()),
    at: Nullable(Type.String({ format: 'date-time' })),
  },
  {
    title: 'Find',
    examples: [
      {
        kind: 'payment',
        id: 'PAY000001',
        client_id: 'CLI000001',
        title: '250.50 EUR',
        detail: 'Müller GmbH',
        status: 'Payment complete',
        at: '2026-07-01T09:15:00.000Z',
      },
    ],
  },
);
interface Found {
  kind: string;
  id: string;
  client_id: string | null;
  title: string;
  detail: string;
  status: string | null;
  at: Date | null;
}

const FIND = {
  config: { ...READ, asks: true as const },
  schema: {
    operationId: 'find',
    tags: ['support'],
    summary: 'Find what a text names',
    description: `At most ${MAX_FINDS} of each kind. A POST, so that no address contains personal data. It changes nothing.`,
    body: SearchBody,
    response: { 200: jsonAnswer('What was found', Type.Array(Find)), ...errors(400, 403, 502) },
  },
};

/** POST /search (docs/operator-interface.md, Find out what happened). */
export function operatorSearchRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof SearchBody> }>('/search', FIND, async ({ body }): Promise<Found[]> => {
    const q = body.q.trim();
    if (q === '') throw new Problem('invalid_body', { field: 'q', message: 'must not be only white space' });
    // One after the other: a search takes one connection of the pool, whatever it looks for.
    const finds: Found[] = [];
    for (const look of [payments, contacts, clients, requests, notifications]) finds.push(...(await look(context, q)));
    return finds;
  });
}

async function payments({ pool }: Context, q: string): Promise<Found[]> {
  return (await paymentsNamed(pool, q, MAX_FINDS)).map((payment) => ({
    kind: 'payment',
    id: payment.payment_id,
    client_id: payment.client_id,
    title: `${payment.amount} ${payment.payment_currency}`,
    detail: [payment.beneficiary_name, payment.reference].filter(Boolean).join(' · '),
    status: payment.status,
    at: payment.created,
  }));
}

async function contacts({ pool }: Context, q: string): Promise<Found[]> {
  const rows = q.includes('@') ? (await listContacts(pool, { ...PAGE, email: q })).rows : await readContacts(pool, [q]);
  return rows.map(({ contact_id: id, name, email, status, clients: own }) => ({
    kind: 'contact',
    id,
    client_id: own.length === 1 ? (own[0]?.client_id ?? null) : null,
    title: name,
    detail: email,
    status,
    at: null,
  }));
}

async function clients({ pool }: Context, q: string): Promise<Found[]> {
  const { rows } = await listClients(pool, { ...PAGE, q });
  return rows.map((client) => ({
    kind: 'client',
    id: client.client_id,
    client_id: client.client_id,
    title: client.client_name,
    detail: client.account_number ?? '',
    status: client.status,
    at: null,
  }));
}

async function requests({ pool, journals }: Context, q: string): Promise<Found[]> {
  await journals.refusedRequests.write();
  const { rows } = await listRefusedRequests(pool, { ...PAGE, requestId: q });
  return rows.map(({ request_id: id, client_id, method, route, status, code, at }) => ({
    kind: 'request',
    id,
    client_id,
    title: [method, route].filter(Boolean).join(' '),
    detail: code ?? '',
    status: String(status),
    at,
  }));
}

async function notifications({ pool }: Context, q: string): Promise<Found[]> {
  if (!isUuid(q)) return [];
  const found = await findNotification(pool, q).catch((error) => {
    if (error instanceof Problem) return undefined;
    throw error;
  });
  if (!found) return [];
  const { id, client_id, type, subscription_id, status, created_at: at } = found;
  return [{ kind: 'notification', id, client_id, title: type, detail: subscription_id, status, at }];
}

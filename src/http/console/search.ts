import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listClients } from '../../identity/people/client.ts';
import { listContacts, readContacts } from '../../identity/people/contact.ts';
import { listRefusedRequests } from '../../monitoring/refused-requests.ts';
import { requireScopes } from '../../operator/scope.ts';
import { paymentsNamed } from '../../payments/search/search-conditions.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { closed, Text } from '../../values/schemas.ts';
import { findNotification } from '../../webhooks/history.ts';
import { enterCell } from '../server/cells.ts';
import { operatorOf, requireStaff } from './session.ts';

/** Finds of one kind. */
const MAX_FINDS = 20;
const PAGE = { page: 1, pageSize: MAX_FINDS };

const SearchBody = Type.Object(
  { q: Text('A payment id, UETR or reference; an email; a client; a contact; a request id; a notification id', 254) },
  closed,
);
/** Something that a text names. */
export interface Found {
  kind: 'payment' | 'client' | 'contact' | 'request' | 'notification';
  id: string;
  client_id: string | null;
  /** The name, or what it is; of a payment the amount and its currency. */
  title: string;
  amount?: string;
  currency?: string;
  /** What tells it from others. */
  detail: string;
  status: string | null;
  at: string | null;
}

/** POST /console/search: what a text names. A POST, so that no address contains personal data; it changes nothing. */
export function searchRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Body: Static<typeof SearchBody> }>(
    '/console/search',
    { schema: { body: SearchBody } },
    async (request): Promise<Found[]> => {
      requireScopes(operatorOf(context, await requireStaff(context, request)), ['read']);
      const q = request.body.q.trim();
      if (q === '') throw new Problem('invalid_body', { field: 'q', message: 'must not be only white space' });
      enterCell(request, 'all');
      return findNamed(context, q);
    },
  );
}

/** What a text names, of all kinds. */
export async function findNamed(context: Context, q: string): Promise<Found[]> {
  // One after the other: a search takes one connection of the pool, whatever it looks for.
  const finds: Found[] = [];
  for (const look of [payments, contacts, clients, requests, notifications]) finds.push(...(await look(context, q)));
  return finds;
}

async function payments({ pool }: Context, q: string): Promise<Found[]> {
  return (await paymentsNamed(pool, q, MAX_FINDS)).map((payment) => ({
    kind: 'payment',
    id: payment.payment_id,
    client_id: payment.client_id,
    title: `${payment.amount} ${payment.payment_currency}`,
    amount: payment.amount,
    currency: payment.payment_currency,
    detail: [payment.beneficiary_name, payment.reference].filter(Boolean).join(' · '),
    status: payment.status,
    at: payment.created.toISOString(),
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
    at: at.toISOString(),
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
  return [{ kind: 'notification', id, client_id, title: type, detail: subscription_id, status, at: at.toISOString() }];
}

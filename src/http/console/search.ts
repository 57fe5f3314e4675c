import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { beneficiariesNamed } from '../../beneficiaries/beneficiary.ts';
import type { Context } from '../../context.ts';
import { readQuotes } from '../../exchange/quote.ts';
import { tradesNamed } from '../../exchange/trade.ts';
import { listClients } from '../../identity/people/client.ts';
import { listContacts, readContacts } from '../../identity/people/contact.ts';
import { listRefusedRequests } from '../../monitoring/refused-requests.ts';
import { requireScopes } from '../../operator/scope.ts';
import { massPaymentsNamed } from '../../orders/mass/reading.ts';
import { type NamedPayment, newestPayments, paymentsNamed, paymentsTo } from '../../payments/search/named-payments.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { closed, Text } from '../../values/schemas.ts';
import { findNotification } from '../../webhooks/history.ts';
import { enterCell } from '../server/cells.ts';
import { operatorOf, requireStaff } from './session.ts';

/** The most results of one kind. */
const MAX_FINDS = 20;
/** Payments to payees that a text names: of so many payees, and so many to each. */
const MAX_PAID_PAYEES = 5;
const MAX_PAID = 5;
/** Payments of all clients that the list of payments shows before anything is asked for. */
const NEWEST = 25;
const PAGE = { page: 1, pageSize: MAX_FINDS };

const SearchBody = Type.Object(
  {
    q: Text(
      'An id; a UETR; a reference, of a file too; an email; the beginning of a payee, its IBAN; a part of the name of a client',
      254,
    ),
  },
  closed,
);
/** A record that a text names. */
export interface Found {
  kind: 'payment' | 'file' | 'trade' | 'quote' | 'payee' | 'client' | 'contact' | 'request' | 'notification';
  id: string;
  client_id: string | null;
  /** Its name or kind; for a payment the amount and its currency. */
  title: string;
  amount?: string;
  currency?: string;
  /** What distinguishes it from others. */
  detail: string;
  status: string | null;
  at: string | null;
}

/** One of the payments that came last. Its amount is a text, so that it is exact. */
export type NewestPayment = Omit<NamedPayment, 'created'> & { created_date: string };

/** POST /console/search: the records that a text names. It is a POST so that no address contains personal data; it changes nothing. */
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
  // GET /payments needs a client; this is what to show before there is one.
  app.get('/console/newest-payments', async (request): Promise<NewestPayment[]> => {
    requireScopes(operatorOf(context, await requireStaff(context, request)), ['read']);
    enterCell(request, 'all');
    const rows = await newestPayments(context.pool, NEWEST);
    return rows.map(({ created, ...payment }) => ({ ...payment, created_date: created.toISOString() }));
  });
}

/** The records of all kinds that a text names. */
export async function findNamed(context: Context, q: string): Promise<Found[]> {
  // One after the other, so that a search takes only one connection of the pool.
  const finds: Found[] = [];
  for (const look of [payments, files, trades, quotes, payees, contacts, clients, requests, notifications])
    finds.push(...(await look(context, q)));
  return finds;
}

async function payments({ pool }: Context, q: string): Promise<Found[]> {
  return (await paymentsNamed(pool, q, MAX_FINDS)).map(foundPayment);
}

function foundPayment(payment: NamedPayment): Found {
  return {
    kind: 'payment',
    id: payment.payment_id,
    client_id: payment.client_id,
    title: `${payment.amount} ${payment.payment_currency}`,
    amount: payment.amount,
    currency: payment.payment_currency,
    detail: [payment.beneficiary_name, payment.reference].filter(Boolean).join(' · '),
    status: payment.status,
    at: payment.created.toISOString(),
  };
}

async function files({ pool }: Context, q: string): Promise<Found[]> {
  return (await massPaymentsNamed(pool, q, MAX_FINDS)).map((file) => ({
    kind: 'file',
    id: file.mass_payment_id,
    client_id: file.client_id,
    title: file.external_reference_id,
    detail: file.payment_initiation_id ?? '',
    status: file.mass_payment_status,
    at: new Date(file.created_at).toISOString(),
  }));
}

async function trades({ pool, addresses }: Context, q: string): Promise<Found[]> {
  return (await tradesNamed(pool, addresses.api, q, MAX_FINDS)).map((trade) => ({
    kind: 'trade',
    id: trade.trade_id,
    client_id: trade.client_id,
    title: `${trade.sell_currency} ${trade.buy_currency}`,
    detail: [trade.external_reference_id, trade.reference].filter(Boolean).join(' · '),
    status: trade.status,
    at: null,
  }));
}

const QUOTE_ID = /^[0-9a-f]{32}$/;

async function quotes({ pool, clock }: Context, q: string): Promise<Found[]> {
  if (!QUOTE_ID.test(q)) return [];
  return (await readQuotes(pool, [q], clock.now())).map((quote) => ({
    kind: 'quote',
    id: quote.quote_id,
    client_id: quote.client_id,
    title: `${quote.sell_currency} ${quote.buy_currency}`,
    detail: quote.trade_id ?? '',
    status: quote.status,
    at: new Date(quote.created_at).toISOString(),
  }));
}

/** The payees that a text names. Somebody who names a payee mostly looks for a payment to it: the newest follow. */
async function payees({ pool }: Context, q: string): Promise<Found[]> {
  const named = await beneficiariesNamed(pool, q, MAX_FINDS);
  const found = named.map(
    (payee): Found => ({
      kind: 'payee',
      id: payee.beneficiary_id,
      client_id: payee.client_id,
      title: payee.beneficiary_name,
      detail: payee.iban ?? payee.account_number ?? '',
      status: null,
      at: null,
    }),
  );
  const paid = await paymentsTo(pool, named.slice(0, MAX_PAID_PAYEES), MAX_PAID);
  return [...found, ...paid.map(foundPayment)];
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

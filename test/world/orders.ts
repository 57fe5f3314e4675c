import assert from 'node:assert/strict';
import { accessToken } from './access-token.ts';
import { createWorld } from './client.ts';
import { call, type TestService } from './service.ts';
import '../../src/values/json.ts';

const ORDERING = [
  ...['can_authorise_payments', 'can_manage_payments', 'can_manage_multipayments'],
  ...['can_manage_beneficiaries', 'can_create_payments', 'can_trade'],
];

/** Turns a text into the JSON number that it spells. */
const digits = (amount: number | string) => (typeof amount === 'string' ? JSON.rawJSON(amount) : amount);

/** A client whose contact orders from a funded EUR account, and the core's actions on it. */
export async function ordersWorld(service: TestService, { funds = '1000.00', client = {} } = {}) {
  const world = await createWorld(service, 'Orders', client);
  const { clientId } = world;
  const { contactId } = await world.hire('Ordering', {}, ORDERING);
  const token = await accessToken(service, contactId);
  const opened = await service.operator('POST', '/currency-accounts', { client_id: clientId, currency: 'EUR' });
  const account: number = opened.body.account_id;

  const book = (kind: string, amount: string, fields: object = {}) =>
    service.operator('POST', '/transactions', {
      ...{ client_id: clientId, currency_account_id: account, kind, amount: { amount, currency: 'EUR' } },
      ...fields,
    });
  if (funds !== '0') assert.equal((await book('CREDIT_INCOMING_TRANSACTION', funds)).status, 201);
  const payment = (amount: number | string, fields: object = {}) => ({
    ...{
      beneficiary_id: world.beneficiaryId,
      amount: digits(amount),
      payment_date: '2026-12-01',
      reference: 'Invoice 42',
    },
    ...fields,
  });
  /** Orders payments. @param source the source of funds; by default, the account */
  const order = (
    payments: object[],
    source: object = { funding_account_id: account, reason: 'payment_for_goods' },
    options: { query?: string; headers?: Record<string, string>; token?: string } = {},
  ) =>
    service.client(options.token ?? token, 'POST', `/payments?client_id=${clientId}${options.query ?? ''}`, {
      body: { ...source, payments },
      ...(options.headers && { headers: options.headers }),
    });
  return {
    ...world,
    ordererId: contactId,
    token,
    account,
    book,
    payment,
    order,
    /** Orders one payment from the account. @returns its identifier */
    pays: async (amount: number | string, fields: object = {}): Promise<string> => {
      const made = await order([payment(amount, fields)]);
      assert.equal(made.status, 201, made.text);
      return made.body[0].payment_id;
    },
    act: (id: string, ...actions: string[]) =>
      actions.reduce(async (before, action) => {
        await before;
        const done = await service.operator('POST', `/payments/${id}/actions`, { action });
        assert.equal(done.status, 200, done.text);
        return done;
      }, Promise.resolve<unknown>(undefined)),
    /** Sends the lines of an import. */
    imports: (kind: string, lines: object[]) =>
      call(`${service.operatorUrl}/imports/${kind}`, 'POST', {
        token: service.operatorToken,
        headers: { 'content-type': 'application/x-ndjson' },
        raw: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      }),
    ask: (method: string, path: string, body?: unknown, query = '') =>
      service.client(token, method, `${path}?client_id=${clientId}${query}`, body === undefined ? {} : { body }),
    /** Another contact of the client. */
    clerk: async (permissions: string[], fields: object = {}) => {
      const { contactId: id } = await world.hire('Clerk', fields, permissions);
      return { id, token: await accessToken(service, id) };
    },
    /** Balance, held and available of the account. */
    funds: async (): Promise<[string, string, string]> => {
      const { body } = await service.operator('GET', `/currency-accounts/${account}`);
      return [body.balance, body.held, body.available];
    },
    holds: async (query = '') => (await service.operator('GET', `/holds?client_id=${clientId}${query}`)).body,
    trade: async (id: string) => (await service.operator('GET', `/trades/${id}`)).body,
    paid: async (id: string) => (await service.operator('GET', `/payments/${id}`)).body,
  };
}

export type OrdersWorld = Awaited<ReturnType<typeof ordersWorld>>;

import assert from 'node:assert/strict';
import { createWorld } from './client.ts';
import type { Answer, TestService } from './service.ts';

/** Tuesday 24 November 2026, 10:00 in London: FX is open. */
export const FX_OPEN = '2026-11-24T10:00:00Z';
const PASSWORD = 'correct horse battery staple';
const SELL = { amount: 10_000, operation: 'sell', buy_currency: 'EUR', sell_currency: 'GBP', trade_type: 'spot' };

export async function moveClock(service: TestService, at: string): Promise<void> {
  const { status, text } = await service.operator('PUT', '/clock', { at });
  assert.equal(status, 200, text);
}

/** A client that may exchange pounds for euros, dollars and yen, with a contact who trades. */
export async function createExchange(service: TestService) {
  await moveClock(service, FX_OPEN);
  const world = await createWorld(service, 'Acme Ltd', { fx_enabled: true });
  const { clientId } = world;
  const put = async (path: string, body: unknown) => {
    const answer = await service.operator('PUT', path, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const hireTrader = async (permissions = ['can_trade']) => {
    const { contactId, email } = await world.hire('Ada', { password: PASSWORD }, permissions);
    return { contactId, token: await service.signIn(email, PASSWORD) };
  };
  await put('/exchange-rates', { base_currency: 'GBP', rates: { EUR: 1.185, JPY: 191.37, USD: 1.25 } });
  const trader = await hireTrader();
  /** A call of the trader, or of another contact. An amount given as a text is sent as a number with its digits. */
  const call = (
    method: string,
    path: string,
    body?: object,
    { token = trader.token, key }: { token?: string; key?: string | undefined } = {},
  ): Promise<Answer> => {
    const raw = JSON.stringify(body)?.replace(/"((?:buy_)?amount)":"([^"]*)"/, '"$1":$2');
    const headers = { ...(raw && { 'content-type': 'application/json' }), ...(key && { 'idempotency-key': key }) };
    const address = `${path}${path.includes('?') ? '&' : '?'}client_id=${clientId}`;
    return service.client(token, method, address, { ...(raw && { raw }), headers });
  };
  type Options = Parameters<typeof call>[3];
  const ask = (fields: object = {}, type = 'quote', options: Options = {}) =>
    call('POST', `/quotes?quote_type=${type}`, { ...SELL, ...fields }, options);
  return {
    ...{ world, clientId, trader, put, hireTrader, call, ask },
    /** Requests a quote and returns it. */
    quoted: async (fields: object = {}, options: Options = {}) => {
      const answer = await ask(fields, 'quote', options);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },
    /** Opens a currency account with some money. @returns its number */
    fund: async (currency: string, amount: string): Promise<number> => {
      const { body: account } = await service.operator('POST', '/currency-accounts', { client_id: clientId, currency });
      const booked = await service.operator('POST', '/transactions', {
        ...{ client_id: clientId, currency_account_id: account.account_id, kind: 'CREDIT_TRANSACTION' },
        amount: { amount, currency },
      });
      assert.equal(booked.status, 201, booked.text);
      return account.account_id;
    },
  };
}

export function refused({ status, body, text }: Answer, expected: number, code: string, details = ''): void {
  assert.deepEqual([status, body?.code], [expected, code], text);
  assert.ok(body.details.startsWith(details), `${body.details} begins with ${details}`);
}

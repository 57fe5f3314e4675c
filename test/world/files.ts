import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { OrdersWorld } from './orders.ts';
import { call, type TestService } from './service.ts';
import { until } from './until.ts';

/** An instruction without its amount and its payee. */
export const ROW = { payment_reference: 'Invoice 42', direction: 'buy', trade_type: 'spot', payment_currency: 'EUR' };
/** A payee that no client has yet. */
export const NEW = {
  ...{ beneficiary_name: 'Neu GmbH', beneficiary_country: 'DE', bank_country: 'DE', iban: 'DE02120300000000202051' },
};

/** What a client does with files of payments. */
export function filesOf(service: TestService, world: OrdersWorld) {
  const file = (rows: unknown[], fields: object = {}) => ({
    ...{ external_reference_id: randomUUID(), auto_commit: false, sell_currency: 'EUR' },
    ...{ funding_account_id: world.account, reason: 'salary_payroll', payment_instructions: rows },
    ...fields,
  });
  const send = (body: object, token = world.token) =>
    service.client(token, 'POST', `/mass-payments?client_id=${world.clientId}`, { body });
  const get = async (id: string) => (await world.ask('GET', `/mass-payments/${id}`)).body;
  const reaches = async (id: string, ...statuses: string[]) => {
    await until(async () => statuses.includes((await get(id)).mass_payment_status), { seconds: 60 });
    return get(id);
  };
  return {
    ...{ file, send, get, reaches },
    row: (payment_amount: number, fields: object = {}) => ({
      ...{ ...ROW, payment_amount, beneficiary_id: world.beneficiaryId },
      ...fields,
    }),
    /** Sends a file and waits until it is judged. */
    judged: async (body: object, token = world.token) => {
      const sent = await send(body, token);
      assert.equal(sent.status, 202, sent.text);
      return reaches(sent.body.mass_payment_id, 'Processed', 'Failed');
    },
    confirm: (id: string, body?: object) => world.ask('POST', `/mass-payments/${id}/confirm`, body),
    errors: async (id: string) =>
      (await world.ask('GET', `/mass-payments/${id}/errors`, undefined, '&page_size=1000')).body,
    csv: (text: string | Buffer, query: string, headers: object = {}) =>
      call(`${service.api}/mass-payments?client_id=${world.clientId}${query}`, 'POST', {
        ...{ token: world.token, raw: text as string },
        headers: { 'content-type': 'text/csv', ...headers },
      }),
  };
}

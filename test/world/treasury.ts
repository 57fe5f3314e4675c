import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type FileSketch, MUELLER, pain001, type TransferSketch } from './iso20022.ts';
import type { OrdersWorld } from './orders.ts';
import { call, type TestService } from './service.ts';
import { until } from './until.ts';

/** A day on which EUR can be paid: the day after the tests' own date (`FX_OPEN`). */
const DAY = '2026-11-25';
/** A transaction to a payee in Germany. */
export const PAYEE: TransferSketch = { ...MUELLER, rest: '<RmtInf><Ustrd>Invoice 42</Ustrd></RmtInf>' };

/** What a treasury system does. */
export function treasuryOf(service: TestService, world: OrdersWorld) {
  const url = `${service.api}/payment-initiations`;
  const debtor = `<Id><Othr><Id>${world.account}</Id></Othr></Id><Ccy>EUR</Ccy>`;
  const send = (raw: string | Buffer, headers: object = {}, token = world.token) =>
    call(`${url}?client_id=${world.clientId}`, 'POST', {
      ...{ token, raw: raw as string, headers: { 'content-type': 'application/xml', ...headers } },
    });
  const status = async (messageId: string) => {
    const path = `${url}/${encodeURIComponent(messageId)}/status?client_id=${world.clientId}`;
    const answer = await call(path, 'GET', { token: world.token });
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  return {
    ...{ send, status },
    /** A file whose blocks pay from the world's account, on a day when payments are possible. */
    file: ({ messageId = randomUUID().slice(0, 30), blocks, ...rest }: Partial<FileSketch>) => ({
      messageId,
      xml: pain001({
        ...{ messageId, ...rest },
        blocks: (blocks ?? [{ transfers: [PAYEE] }]).map((block, index) => ({
          ...{ debtor, day: DAY, id: `${messageId}-${index}` },
          ...block,
        })),
      }),
    }),
    /** The status of the file, once none of its payments still waits to be judged or created. */
    settled: async (messageId: string) => {
      const list = () => world.ask('GET', '/mass-payments', undefined, '&page_size=100');
      await until(
        async () =>
          (await list()).body
            .filter((file: { payment_initiation_id: string }) => file.payment_initiation_id === messageId)
            .every((file: { mass_payment_status: string }) =>
              ['Created', 'Failed', 'Cancelled'].includes(file.mass_payment_status),
            ),
        { seconds: 60 },
      );
      return status(messageId);
    },
    files: async (messageId: string) =>
      (await world.ask('GET', '/mass-payments', undefined, '&page_size=100')).body.filter(
        (file: { payment_initiation_id: string }) => file.payment_initiation_id === messageId,
      ),
  };
}

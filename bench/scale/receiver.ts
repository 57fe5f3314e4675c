/** A receiver to which each client has one subscription. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { transaction } from '../../src/database/database.ts';
import { Vault } from '../../src/values/crypto.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import type { BenchCells } from './cells.ts';
import type { Party } from './people.ts';

/** Seals the secrets of subscriptions; the service uses the same key. */
export const MASTER_KEY = Buffer.alloc(32, 7);

/** Subscribes the clients to their payments, replacing existing subscriptions. @returns a function that ends the receiver and the subscriptions */
export async function startReceiver(cells: BenchCells, parties: Party[]): Promise<() => Promise<void>> {
  const receiver = fork(new URL('../webhooks/receiver.ts', import.meta.url));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const pool = cells.pool(1);
  const settings = { sandbox: true, brand: 'Service', vault: new Vault(MASTER_KEY), streamUrl: 'http://none.example' };
  const unsubscribe = (client: string) =>
    cells.inCellOf(client, () =>
      pool.query('update subscriptions set deleted_at = now() where client_id = $1 and deleted_at is null', [client]),
    );
  for (const { client, approver } of parties) {
    await unsubscribe(client);
    const made = { clientId: client, contactId: approver, url: `http://127.0.0.1:${port}/hook` };
    const more = { types: ['PAYMENT_STATUS_CHANGE'], active: true, secret: 'secret' };
    const act = { now: new Date(), actor: 'bench', requestId: 'bench' };
    await cells.inCellOf(client, () =>
      transaction(pool, (tx) => createSubscription(tx, act, { ...made, ...more }, settings)),
    );
  }
  return async () => {
    // Otherwise later calls would be sent to a receiver that no longer exists.
    for (const { client } of parties) await unsubscribe(client);
    await pool.end();
    receiver.disconnect();
    await once(receiver, 'exit');
  };
}

/** A receiver to which each client has one subscription. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Vault } from '../../src/crypto.ts';
import { createPool, transaction } from '../../src/database.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import { log } from '../payments-data.ts';
import type { Party } from './people.ts';

/** Seals the secrets of subscriptions; the service has it too. */
export const MASTER_KEY = Buffer.alloc(32, 7);

/** Subscribes the clients to their payments, in place of any subscription that there is. @returns what ends the receiver */
export async function startReceiver(url: string, parties: Party[]): Promise<() => Promise<void>> {
  const receiver = fork(new URL('../webhooks/receiver.ts', import.meta.url));
  const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
  const pool = createPool(url, log, { max: 1, background: true });
  const settings = { sandbox: true, brand: 'Service', vault: new Vault(MASTER_KEY), streamUrl: 'http://none.example' };
  await pool.query('update subscriptions set deleted_at = now() where deleted_at is null');
  for (const { client, approver } of parties) {
    const made = { clientId: client, contactId: approver, url: `http://127.0.0.1:${port}/hook` };
    const more = { types: ['PAYMENT_STATUS_CHANGE'], active: true, secret: 'secret' };
    const act = { now: new Date(), actor: 'bench', requestId: 'bench' };
    await transaction(pool, (tx) => createSubscription(tx, act, { ...made, ...more }, settings));
  }
  await pool.end();
  return async () => {
    receiver.disconnect();
    await once(receiver, 'exit');
  };
}

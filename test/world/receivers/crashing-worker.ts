/**
 * The delivery engine as the service runs it, and a writer of events, in a process that the tests kill. One of ten transactions is rolled
 * back; the body of each event says which. Arguments: database, number of events, number of clients, time limit of attempts.
 */

import { randomInt, randomUUID } from 'node:crypto';
import { pathsOf } from '../../../src/database/cells/pool.ts';
import { transaction } from '../../../src/database/database.ts';
import { createPool } from '../../../src/database/pools.ts';
import { Journals } from '../../../src/monitoring/journals.ts';
import { createLog } from '../../../src/process/log.ts';
import { PATIENCE } from '../../../src/process/patience.ts';
import { Readiness } from '../../../src/process/readiness.ts';
import { Traffic } from '../../../src/process/traffic.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { ServiceClock } from '../../../src/values/calendar.ts';
import { Vault } from '../../../src/values/crypto.ts';
import { notify } from '../../../src/webhooks/notification.ts';
import { openPools, startDispatcher } from '../dispatcher.ts';

const [database = '', count = '0', clients = '1', timeout = '5s'] = process.argv.slice(2);
/** Number of concurrent transactions. */
const WRITERS = 4;
const config = readConfig({
  LOMBARD_WEBHOOK_RETRIES: '100ms,100ms,200ms,500ms,1s',
  LOMBARD_WEBHOOK_TIMEOUT: timeout,
});
const log = createLog('silent', false);
const clock = new ServiceClock();
const { whole, pool, announce } = await openPools(database, log);
const engine = startDispatcher({
  config,
  pool: whole,
  backgroundPool: createPool(database, log, { background: true, cells: pathsOf(whole) }),
  clock,
  log,
  vault: new Vault(Buffer.alloc(32, 7)),
  readiness: new Readiness(log),
  patience: PATIENCE,
  journals: new Journals(whole, clock, log),
  rateCounts: undefined,
  traffic: new Traffic(),
  addressOf: () => '',
  addresses: { api: '', auth: '', trusted: undefined, operator: 'http://127.0.0.1:1' },
});
process.on('SIGTERM', () => void engine.stop().then(() => process.exit(0)));
process.send?.('started');
let written = 0;
async function write(): Promise<void> {
  while (written < Number(count)) {
    written += 1;
    const clientId = `CLI${written % Number(clients)}`;
    const rolledBack = randomInt(10) === 0;
    const id = randomUUID();
    await transaction(pool, async (tx) => {
      await notify(tx, {
        clientId,
        type: 'PAYMENT_STATUS_CHANGE',
        body: JSON.stringify({ id, rolledBack, data: [{ text: 'ünicode', amount: 0.1 }] }),
        now: clock.now(),
      });
      if (rolledBack) throw new Error('rolled back');
    }).catch((error: Error) => {
      if (error.message !== 'rolled back') throw error;
    });
    announce();
  }
}
await Promise.all(Array.from({ length: WRITERS }, write));
process.send?.('written');

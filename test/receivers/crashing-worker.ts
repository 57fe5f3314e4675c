/**
 * A process for webhooks-crash.test.ts: a worker of the service that also writes events, until it is killed. Of ten transactions one is
 * rolled back; each event's body says which it is. Arguments: database, how many events to write, a name for them.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { transaction } from '../../src/database.ts';
import { createLog } from '../../src/log.ts';
import { startService } from '../../src/service.ts';
import { notify } from '../../src/webhooks/notification.ts';

const [database = '', count = '0', clients = '1'] = process.argv.slice(2);
const config = readConfig({
  LOMBARD_ROLES: 'worker',
  LOMBARD_DATA_DIR: mkdtempSync(join(tmpdir(), 'lombard-crash-')),
  LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-tests',
  LOMBARD_WEBHOOK_RETRIES: '100ms,100ms,200ms,500ms,1s',
  LOMBARD_WEBHOOK_TIMEOUT: '5s',
});
const service = await startService(config, createLog('silent', false), database);
const { pool, clock } = service.context;
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)));
process.send?.('started');
for (let written = 0; written < Number(count); written += 1) {
  const rolledBack = randomInt(10) === 0;
  const id = randomUUID();
  await transaction(pool, async (tx) => {
    await notify(tx, {
      clientId: `CLI${written % Number(clients)}`,
      type: 'PAYMENT_STATUS_CHANGE',
      body: JSON.stringify({ id, rolledBack, data: [{ text: 'ünicode', amount: 0.1 }] }),
      now: clock.now(),
    });
    if (rolledBack) throw new Error('rolled back');
  }).catch((error: Error) => {
    if (error.message !== 'rolled back') throw error;
  });
}
process.send?.('written');

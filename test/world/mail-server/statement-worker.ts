/**
 * A worker of the service in its own process, for the tests that kill it. Arguments: database, data directory, SMTP_URL. The starter
 * removes the directory, because a killed process cannot.
 */

import { createLog } from '../../../src/process/log.ts';
import { startService } from '../../../src/service.ts';
import { readConfig } from '../../../src/settings/config.ts';

const [database = '', dataDir = '', smtpUrl] = process.argv.slice(2);
const config = readConfig({
  LOMBARD_ROLES: 'worker',
  LOMBARD_DATA_DIR: dataDir,
  LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-tests',
  ...(smtpUrl ? { SMTP_URL: smtpUrl } : {}),
});
await startService(config, createLog('silent', false), { databaseUrl: database });
// Prevents orphans when the test dies.
process.on('disconnect', () => process.exit(0));
process.send?.('started');

/** The service with the role worker in its own process. It sends its peak resident memory. Arguments: database, data directory. */

import { createLog } from '../../src/process/log.ts';
import { startService } from '../../src/service.ts';
import { readConfig } from '../../src/settings/config.ts';

const [database = '', dataDir = ''] = process.argv.slice(2);
const config = readConfig({
  LOMBARD_ROLES: 'worker',
  LOMBARD_DATA_DIR: dataDir,
  LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-bench',
});
const service = await startService(config, createLog('warn', false), { databaseUrl: database });
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 100);
process.on('message', () => process.send?.({ peak, cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)));
process.send?.({ started: true });

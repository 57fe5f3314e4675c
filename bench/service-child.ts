/** The service of bench/service.ts in its own process, so that its processor time and memory can be measured. */

import { createLog } from '../src/process/log.ts';
import { startService } from '../src/service.ts';
import { readConfig } from '../src/settings/config.ts';

const log = createLog('warn', false);
// As in production: a sandbox also keeps what each integrator sends.
const service = await startService({ ...readConfig(), environment: 'production' }, log);
process.send?.({ api: service.addresses.api, operator: service.addresses.operator });
// The bench was interrupted, or has ended.
process.once('disconnect', () => process.exit(0));
process.on('message', async (message) => {
  if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
  if (message === 'stop') {
    await service.stop();
    process.disconnect();
  }
});

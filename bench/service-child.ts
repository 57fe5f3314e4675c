/** The service of bench/service.ts: a process of its own, whose processor time and memory are its own. */
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startService } from '../src/service.ts';

const log = createLog('warn', false);
// As in production: a sandbox also keeps what each integrator sends.
const service = await startService({ ...readConfig(), environment: 'production' }, log);
process.send?.({ api: service.addresses.api, operator: service.addresses.operator });
process.on('message', async (message) => {
  if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
  if (message === 'stop') {
    await service.stop();
    process.disconnect();
  }
});

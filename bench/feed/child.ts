/** The service of the change feed benches. Messages switch the recorder on and off; everything else is the ordinary service. */
import { takeChanges } from '../../src/audit/change.ts';
import { ChangeRecorder } from '../../src/feed/recorder.ts';
import { createLog } from '../../src/process/log.ts';
import { startService } from '../../src/service.ts';
import { readConfig } from '../../src/settings/config.ts';
import { recordStatements, switchRecording } from '../load/recording.ts';

const { beforeCommit, beforeReading } = ChangeRecorder.prototype;
let feed = true;
ChangeRecorder.prototype.beforeReading = async function lock(tx) {
  if (feed) await beforeReading.call(this, tx);
};
ChangeRecorder.prototype.beforeCommit = async function record(tx) {
  if (feed) return beforeCommit.call(this, tx);
  takeChanges(tx);
};

// LOMBARD_BENCH_RECORDED: what it sends to the database can be recorded, which costs it some time.
if (process.env.LOMBARD_BENCH_RECORDED) recordStatements();

// LOMBARD_BENCH_PRODUCTION runs it as in production. A sandbox also keeps what each integrator sends.
const config = readConfig();
const environment = process.env.LOMBARD_BENCH_PRODUCTION ? 'production' : config.environment;
const service = await startService({ ...config, environment }, createLog('warn', false));
process.send?.({ operator: service.operatorUrl, api: service.addresses.api });
process.on('message', (message) => {
  if (message === 'record') switchRecording(true);
  else if (message === 'recorded') return process.send?.({ recording: switchRecording(false) });
  else feed = message === 'feed';
  return process.send?.({});
});
// The bench was interrupted, or has ended.
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', async () => {
  await service.stop();
  if (process.connected) process.disconnect();
});

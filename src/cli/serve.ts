import cluster from 'node:cluster';
import type { Context, Service, StartService } from '../context.ts';
import { type EmbeddedPostgres, freePort, startEmbedded } from '../embedded/postgres.ts';
import { createHealthListener } from '../http/server/health.ts';
import { limitHeapGrowth } from '../imports/heap-growth.ts';
import { endsWithin } from '../process/deadline.ts';
import { createLog, type Logger } from '../process/log.ts';
import { metrics } from '../process/metrics.ts';
import { Parts } from '../process/parts.ts';
import { ensureDemonstration, registerSample } from '../sandbox/demonstration/demonstration.ts';
import { sampleRedirect } from '../sandbox/demonstration/institution.ts';
import type { Config } from '../settings/config.ts';
import { checkStart } from '../start-checks.ts';
import { errorOf } from '../values/unknown.ts';
import { type Running, removeRunning, writeRunning } from './running.ts';
import { SampleApplication } from './sample-application.ts';
import { startFault } from './start-fault.ts';
import { holdsDemonstration, welcome } from './welcome.ts';
import { type Message, type Question, Workers } from './workers.ts';

export interface ServeOptions {
  /** Creates the demonstration institution in an empty database (sandbox only). */
  demonstration: boolean;
  /** Prints addresses and a login for the person at the terminal. */
  print: boolean;
  startService: StartService;
}

/** Milliseconds that the process may remain after the service has stopped, or after a failed start. */
const MAX_LINGER_MS = 1_000;
/**
 * Milliseconds that stopping may take. Listeners, deliveries in flight and their last results have shorter limits of their own, which add
 * up to less.
 */
const MAX_STOP_MS = 22_000;
/** Milliseconds that an interrupted start may take to end. */
const MAX_INTERRUPTION_MS = 10_000;

/** What the parts of a run share. */
interface Run extends ServeOptions {
  config: Config;
  log: Logger;
  /** Aborted by SIGINT or SIGTERM. */
  stopping: AbortSignal;
}

/** Runs the service until SIGINT or SIGTERM. @returns the exit code @throws StartupError, CommandFailure */
export async function serve(given: Config, options: ServeOptions): Promise<number> {
  const log = createLog(given.logLevel, process.stdout.isTTY === true);
  // All parts must know this port before the sample application listens, because it is in the registered redirect address.
  const config = given.samplePort === 0 ? { ...given, samplePort: await freePort() } : given;
  const run: Run = { ...options, config, log, stopping: stopOnSignal(log) };
  try {
    if (config.workers === 1) return await serveAlone(run);
    return cluster.isPrimary ? await servePrimary(run) : await serveWorker(run);
  } catch (error) {
    throw startFault(config, errorOf(error));
  } finally {
    // Nothing may keep the process alive now, because it ignores further signals.
    setTimeout(() => process.exit(), MAX_LINGER_MS).unref();
  }
}

async function serveAlone(run: Run): Promise<number> {
  const { config, log } = run;
  const service = await start(run);
  if (service) {
    const sample = await announce(run, reachable(service), await demonstrated(service, run));
    await aborted(run.stopping);
    removeRunning(config.dataDir);
    await sample?.stop();
    if (!(await endsWithin(service.stop(), config.drain + MAX_STOP_MS))) {
      // The database may not answer. It rolls back what is waiting for it when the process has ended.
      log.warn('some parts did not stop in time; the process ends without them');
      return 1;
    }
  }
  log.info('stopped');
  return 0;
}

/** @returns undefined if the start was interrupted @throws whatever else ended it */
async function start({ config, log, demonstration, stopping, startService }: Run): Promise<Service | undefined> {
  const prepare = async (context: Context) => {
    if (!demonstration || config.environment !== 'sandbox') return;
    if (await ensureDemonstration(context)) log.info('the demonstration institution was created');
    await registerSample(context);
  };
  const options = { prepare, interrupted: stopping, health: cluster.isPrimary };
  const starting = limitHeapGrowth(() => startService(config, log, options), 0);
  const interrupted = aborted(stopping).then(() => endsWithin(starting, MAX_INTERRUPTION_MS));
  try {
    await Promise.race([starting, interrupted]);
    if (!stopping.aborted) return await starting;
    // The start had just completed.
    if (await interrupted) await endsWithin((await starting).stop(), config.drain + MAX_STOP_MS);
    return undefined;
  } catch (error) {
    if (!stopping.aborted) throw error;
    return undefined;
  }
}

function demonstrated(service: Service, { print }: Run): Promise<boolean> {
  return print ? holdsDemonstration(service.context.pool) : Promise.resolve(false);
}

function reachable(service: Service): Running {
  const { addresses, operatorUrl } = service;
  return {
    api: addresses.api,
    auth: addresses.auth,
    trusted: addresses.trusted ?? null,
    operator: operatorUrl ?? null,
    health: service.healthUrl ?? null,
  };
}

/** @returns the sample application of the demonstration; undefined without one */
async function announce(
  { config, log, print, demonstration: wanted }: Run,
  running: Running,
  demonstration: boolean,
): Promise<SampleApplication | undefined> {
  writeRunning(config.dataDir, running);
  log.info(running, 'ready');
  const sample =
    wanted && demonstration
      ? await SampleApplication.start(running, config.brand, sampleRedirect(config.samplePort))
      : undefined;
  if (print) process.stdout.write(welcome(config, running, { demonstration, sample: sample?.fault }));
  return sample;
}

/** Aborted by the first SIGINT or SIGTERM. A terminal sends them to every process of the group, so later ones are ignored. */
function stopOnSignal(log: Logger): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      if (stopping.signal.aborted) return;
      log.info({ signal }, 'stopping');
      stopping.abort(new Error(`${signal} ends the start`));
    });
  return stopping.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Serves in one of LOMBARD_WORKERS processes. The primary gives it the database, and shares the listeners' ports among the workers. */
async function serveWorker(run: Run): Promise<number> {
  let service: Service | undefined;
  const tell = (message: Message) => process.send?.(message, () => {});
  process.on('message', async ({ ask }: Question) => {
    const fault = service ? service.readiness.fault() : 'the service is starting';
    tell({ answer: ask, condition: { fault, metrics: await metrics.getMetricsAsJSON() } });
  });
  try {
    service = await start(run);
    if (!service) return 0;
    tell({ ready: { running: reachable(service), demonstration: await demonstrated(service, run) } });
    await aborted(run.stopping);
    await service.stop();
    return 0;
  } finally {
    // The channel to the primary would keep the worker alive. The primary notices when it ends.
    process.disconnect?.();
  }
}

/** Runs the health listener, the embedded database and the workers. */
async function servePrimary(run: Run): Promise<number> {
  const { config, log, stopping } = run;
  const parts = new Parts(stopping);
  const workers = new Workers(log);
  try {
    await checkStart(config);
    const health = createHealthListener(config, log, {
      fault: () => (stopping.aborted ? 'the service is stopping' : workers.fault()),
      metrics: () => workers.metrics(),
    });
    await parts.start(health);
    const database = config.databaseUrl ? undefined : await startDatabase(run, parts);
    await parts.start({ stop: () => workers.stop() });
    const environment: Record<string, string> = database ? { DATABASE_URL: database.socketUrl } : {};
    if (config.samplePort !== undefined) environment.LOMBARD_SAMPLE_PORT = String(config.samplePort);
    const first = await parts.during(workers.start(config.workers, { environment, drain: config.drain }));
    const sample = await announce(run, { ...first.running, health: health.url }, first.demonstration);
    await aborted(stopping);
    removeRunning(config.dataDir);
    await sample?.stop();
    return 0;
  } catch (error) {
    if (!stopping.aborted) throw error;
    return 0;
  } finally {
    await parts.stop();
    log.info('stopped');
  }
}

async function startDatabase({ config, log }: Run, parts: Parts): Promise<EmbeddedPostgres> {
  const database = await startEmbedded({ dataDir: config.dataDir, log });
  await parts.start(database);
  return database;
}

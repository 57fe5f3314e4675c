import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonic } from '../calendar.ts';
import { type Config, readConfig } from '../config.ts';
import { endsWithin } from '../deadline.ts';
import { startEmbedded } from '../embedded/postgres.ts';
import { StartupError } from '../errors.ts';
import { limitHeapGrowth } from '../imports/heap-growth.ts';
import { createLog, type Logger } from '../log.ts';
import { ensureDemonstration } from '../sandbox/demonstration/demonstration.ts';
import { type Service, startService } from '../service.ts';
import { CommandFailure } from './failure.ts';
import { type Running, removeRunning, writeRunning } from './running.ts';
import { holdsDemonstration, welcome } from './welcome.ts';

export interface ServeOptions {
  /** Puts the demonstration institution into an empty database (sandbox only). */
  demonstration: boolean;
  /** Prints addresses and a login for the person at the terminal. */
  print: boolean;
}

/** Waits before a worker that ended is started again (ms): the first, second, ... end shortly after a start. */
const FORK_AGAIN = [100, 1_000, 2_000, 5_000];
/** A worker that ran this long counts as healthy (ms). */
const HEALTHY_RUN = 10_000;
/** After stopping, what still holds the process is not waited for (ms). */
const LINGER = 1_000;
/** The longest that stopping takes (ms): listeners, attempts under way and the last results have limits of their own, which come to less. */
const STOP_WITHIN = 22_000;
/** Workers that do not end by themselves are ended (ms). */
const WORKER_STOP = 12_000;

/** Runs the service until SIGINT or SIGTERM. @returns the exit code @throws StartupError, CommandFailure */
export async function serve(options: ServeOptions): Promise<number> {
  const config = readConfig();
  const log = createLog(config.logLevel, process.stdout.isTTY === true);
  const signal = untilSignal();
  const code =
    config.workers === 1
      ? await serveAlone(config, log, options, signal)
      : cluster.isPrimary
        ? await servePrimary(config, log, options, signal)
        : await serveWorker(config, log, options, signal);
  setTimeout(() => process.exit(code), LINGER).unref();
  return code;
}

async function serveAlone(
  config: Config,
  log: Logger,
  options: ServeOptions,
  signal: Promise<string>,
): Promise<number> {
  const service = await limitHeapGrowth(() => start(config, log, options), 0);
  announce(config, log, options, reachable(service), await demonstrated(service, options));
  log.info({ signal: await signal }, 'stopping');
  removeRunning(config.dataDir);
  if (!(await endsWithin(service.stop(), STOP_WITHIN))) {
    // A database that has fallen silent answers nobody; what waits for it is rolled back when the process is gone.
    log.warn('not everything ended in time; the process ends without it');
    return 1;
  }
  log.info('stopped');
  return 0;
}

function start(config: Config, log: Logger, options: ServeOptions): Promise<Service> {
  return startService(config, log, {
    prepare: async (context) => {
      if (!options.demonstration || config.environment !== 'sandbox') return;
      if (await ensureDemonstration(context)) log.info('the demonstration institution was made');
    },
  });
}

function demonstrated(service: Service, options: ServeOptions): Promise<boolean> {
  return options.print ? holdsDemonstration(service.context.pool) : Promise.resolve(false);
}

function reachable(service: Service): Running {
  const { addresses, operatorUrl } = service;
  return {
    api: addresses.api,
    auth: addresses.auth,
    trusted: addresses.trusted ?? null,
    operator: operatorUrl ?? null,
  };
}

function announce(config: Config, log: Logger, options: ServeOptions, running: Running, demonstration: boolean): void {
  writeRunning(config.dataDir, running);
  log.info(running, 'ready');
  if (options.print) process.stdout.write(welcome(config, running, demonstration));
}

/** Resolves at the first SIGINT or SIGTERM; a terminal sends them to every process of the group, so the next ones are ignored. */
function untilSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve(signal));
  });
}

interface Ready {
  running: Running;
  demonstration: boolean;
}

/** One of LOMBARD_WORKERS processes: the primary gives it the database, and shares the listeners' ports among them. */
async function serveWorker(
  config: Config,
  log: Logger,
  options: ServeOptions,
  signal: Promise<string>,
): Promise<number> {
  const service = await limitHeapGrowth(() => start(config, log, options), 0).catch((error: Error) => {
    // The channel to the primary would hold a worker that failed; the primary takes its end for an answer.
    process.disconnect?.();
    throw error;
  });
  process.send?.({ running: reachable(service), demonstration: await demonstrated(service, options) } satisfies Ready);
  await signal;
  await service.stop();
  process.disconnect?.();
  return 0;
}

/**
 * Holds the embedded database and the workers. The first worker makes keys, tokens and the demonstration on a first start, so the
 * others follow when it is ready. A worker that ends is started again.
 */
async function servePrimary(
  config: Config,
  log: Logger,
  options: ServeOptions,
  signal: Promise<string>,
): Promise<number> {
  const database = config.databaseUrl
    ? undefined
    : await startEmbedded({ dataDir: config.dataDir, log }).catch((error: Error) => {
        throw new StartupError(error.message, { cause: error });
      });
  let stopping = false;
  const workers = new Set<Worker>();
  const fork = (): Promise<Ready> => {
    const worker = cluster.fork(database ? { DATABASE_URL: database.url } : {});
    workers.add(worker);
    return new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('exit', (code) => {
        workers.delete(worker);
        // What was wrong the worker has written itself.
        reject(new CommandFailure('', code === 2 ? 2 : 1));
      });
    });
  };
  const keep = async (first: Promise<Ready>): Promise<void> => {
    let failures = 0;
    for (let next = first; ; next = fork()) {
      const started = monotonic();
      const worker = [...workers].at(-1) as Worker;
      await next.catch(() => {});
      if (workers.has(worker)) await new Promise((resolve) => worker.once('exit', resolve));
      if (stopping) return;
      failures = monotonic() - started < HEALTHY_RUN ? failures + 1 : 0;
      const wait = FORK_AGAIN[Math.min(failures, FORK_AGAIN.length - 1)] ?? 0;
      log.warn({ worker: worker.process.pid, wait }, 'a worker ended; it is started again');
      await pause(wait);
      if (stopping) return;
    }
  };
  try {
    const first = fork();
    const kept = [keep(first)];
    const ready = await Promise.race([first, signal.then(() => undefined)]);
    if (ready) {
      for (let index = 1; index < config.workers; index += 1) {
        const next = fork();
        kept.push(keep(next));
        await next.catch(() => {});
      }
      announce(config, log, options, ready.running, ready.demonstration);
    }
    log.info({ signal: await signal }, 'stopping');
    stopping = true;
    removeRunning(config.dataDir);
    for (const worker of workers) worker.process.kill('SIGTERM');
    await endsWithin(Promise.all(kept), WORKER_STOP);
    return 0;
  } finally {
    stopping = true;
    for (const worker of workers) worker.process.kill('SIGKILL');
    await database?.stop();
    log.info('stopped');
  }
}

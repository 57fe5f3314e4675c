import { setTimeout as pause } from 'node:timers/promises';
import { createAuditDays } from './audit/days.ts';
import { type Context, configuredAddresses, type Service, type StartOptions } from './context.ts';
import { Activity } from './database/cells/activity.ts';
import { cellPools } from './database/cells/contexts.ts';
import { createCellGrowth, unknownCellsFault } from './database/cells/growth.ts';
import { hasSeveralCells, pathsOf } from './database/cells/pool.ts';
import { CellPulse } from './database/cells/pulse.ts';
import { type Pool, urlOf } from './database/database.ts';
import { Hearing } from './database/hearing.ts';
import { databaseAddresses, openDatabase, usesNames } from './database/open.ts';
import { planEachTime } from './database/plan-settings.ts';
import { createPool } from './database/pools.ts';
import { RateCounts } from './database/rate-counts.ts';
import { schemaFault } from './database/schema.ts';
import { DatabaseWatch } from './database/watch.ts';
import { createDrawing, type Drawing } from './documents/document.ts';
import { logFonts } from './documents/fonts.ts';
import { startEmbedded } from './embedded/postgres.ts';
import { recordChanges } from './feed/tasks.ts';
import { createAuthListener } from './http/auth/listener.ts';
import { type ClientRoutes, createClientListener } from './http/client/listener.ts';
import { clientRoutes } from './http/client/routes.ts';
import { LateEndpoint } from './http/graphql/late-endpoint.ts';
import { createOperatorListener } from './http/operator/listener.ts';
import { operatorRoutes } from './http/operator/routes.ts';
import { pagesFault } from './http/page/application.ts';
import { createAddressOf } from './http/server/caller-address.ts';
import { createHealthListener } from './http/server/health.ts';
import { type Binding, Listener, type Listening, listenOn } from './http/server/listener.ts';
import { createTrustedListener } from './http/trusted/listener.ts';
import { Sessions } from './identity/tokens/sessions.ts';
import { Journals } from './monitoring/journals.ts';
import type { ConfiguredToken } from './operator/configured-token.ts';
import { type FirstToken, firstOperatorToken } from './operator/first-token.ts';
import type { Logger } from './process/log.ts';
import { metrics } from './process/metrics.ts';
import { Parts } from './process/parts.ts';
import { PATIENCE } from './process/patience.ts';
import { Readiness } from './process/readiness.ts';
import { asRun } from './process/runs.ts';
import { Traffic } from './process/traffic.ts';
import { ClockFollower } from './sandbox/clock.ts';
import type { Config } from './settings/config.ts';
import { sandboxKey } from './settings/private-file.ts';
import { checkMasterKey, checkStart } from './start-checks.ts';
import { ServiceClock } from './values/calendar.ts';
import { Vault } from './values/crypto.ts';
import { createDays } from './webhooks/delivery/retention.ts';
import { startWorkers } from './workers.ts';

/**
 * Milliseconds after which background work gives up a statement if there are several cells, so that a silent cell does not stop the others.
 * With one cell it waits, because it has nothing else to do.
 */
const CELL_ANSWER_MS = 30_000;

/** What the steps of a start share. */
interface Starting {
  context: Context;
  parts: Parts;
  sessions: Sessions;
  drawing: Drawing;
  routes: ClientRoutes[];
  configured: ConfiguredToken | undefined;
  /** Pools in addition to those of the context. */
  pools: Pool[];
}

/**
 * The composition root. It creates and connects, by hand, everything that the process's roles need.
 * @throws StartupError one line for the person who starts it
 */
export async function startService(config: Config, log: Logger, options: StartOptions = {}): Promise<Service> {
  const parts = new Parts(options.interrupted ?? new AbortController().signal);
  const readiness = new Readiness(log);
  options.interrupted?.addEventListener('abort', () => readiness.stop());
  try {
    await checkStart(config);
    // Loaded only if traces are collected.
    if (config.tracesUrl) await parts.start((await import('./process/telemetry/opentelemetry.ts')).createTelemetry());
    const healthUrl =
      options.health === false ? undefined : await startHealthListener(config, log, { parts, readiness });
    const context = await startContext({ config, log, parts, readiness, options });
    context.addresses.health = healthUrl;
    const { token: operatorToken, configured } = await parts.during(prepareDatabase(context));
    if (options.prepare) await parts.during(options.prepare(context));

    const sessions = new Sessions(context.pool, context.clock, log);
    await parts.start(sessions);
    const drawing = createDrawing(config);
    await parts.start(drawing.renderer);
    const graphql = new LateEndpoint(context.backgroundPool, log);
    const routes = clientRoutes(sessions, drawing, graphql);
    const starting: Starting = { context, parts, sessions, drawing, routes, configured, pools: [] };
    const operatorUrl = await startListeners(starting);
    const workers = config.roles.has('worker') ? await startWorkers(starting) : undefined;
    if (hasSeveralCells(context.pool))
      await parts.start(createCellGrowth(context, async () => void (await workers?.renew())));
    const { addresses } = context;
    const stop = async () => {
      readiness.stop();
      // Load balancers must notice that the process is not ready before it stops accepting connections.
      await pause(config.drain);
      await parts.stop();
    };
    await watchDatabase(starting);
    if (config.roles.has('api') || config.roles.has('trusted')) await parts.start(graphql);
    void logFonts({ directory: config.documentFonts, cells: () => cellPools(context.backgroundPool), log });
    return { context, addresses, operatorUrl, operatorToken, readiness, healthUrl, stop };
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** Serves health from the beginning of a start to the end of a stop. @returns the listener's address */
async function startHealthListener(
  config: Config,
  log: Logger,
  { parts, readiness }: { parts: Parts; readiness: Readiness },
): Promise<string> {
  const listener = createHealthListener(config, log, {
    fault: () => readiness.fault(),
    metrics: async () => ({ contentType: metrics.contentType, text: await metrics.metrics() }),
  });
  await parts.start(listener);
  return listener.url;
}

/** The last part to start. From now on the process is ready while the database is. */
async function watchDatabase({ context, parts, pools }: Starting): Promise<void> {
  const { pool, backgroundPool, log, readiness } = context;
  const watched = [pool, backgroundPool, ...pools];
  const fault = hasSeveralCells(pool)
    ? schemaFault
    : async (db: Pool) => (await schemaFault(db)) ?? (await unknownCellsFault(db));
  await parts.start(new DatabaseWatch({ url: urlOf(pool), log, readiness, pools: watched, schemaFault: fault }));
}

/** The database with its pools, the key, the clock, and the addresses that are configured. */
async function startContext(start: {
  config: Config;
  log: Logger;
  parts: Parts;
  readiness: Readiness;
  options: StartOptions;
}): Promise<Context> {
  const { config, log, parts, readiness, options } = start;
  const keys = config.masterKeys.length > 0 ? config.masterKeys : [await sandboxKey(config.dataDir)];
  const vault = new Vault(...keys);
  const url = options.databaseUrl ?? config.databaseUrl ?? (await startDatabase(config, log, parts));
  const addresses = databaseAddresses(config, url);
  const cells = await parts.during(openDatabase(config, addresses, log));

  const pulse = cells && new CellPulse(addresses.sessions, cells, log);
  if (pulse) {
    cells.pulse = pulse;
    await parts.start(pulse);
  }
  const pool = createPool(url, log, { max: config.poolSize, name: 'lombard', names: usesNames(config), cells });
  await parts.start({ stop: () => pool.end() });
  const backgroundPool = createPool(addresses.sessions, log, {
    max: config.backgroundPoolSize,
    background: true,
    ...(cells && { answerWithin: CELL_ANSWER_MS }),
    name: 'lombard-background',
    setUp: planEachTime(cells?.distributed),
    cells,
  });
  await parts.start({ stop: () => backgroundPool.end() });

  const limited = (['api', 'auth', 'trusted'] as const).some((role) => config.roles.has(role));
  const rateCounts = limited ? new RateCounts(url, log, usesNames(config)) : undefined;
  if (rateCounts) await parts.start(rateCounts);
  const clock = new ServiceClock();
  const journals = new Journals(backgroundPool, clock, log);
  await parts.start(journals);
  const context: Context = {
    config,
    pool,
    backgroundPool,
    hearing: new Hearing(addresses.sessions),
    activity: new Activity(pool, log),
    clock,
    log,
    vault,
    readiness,
    patience: options.patience ?? PATIENCE,
    traffic: new Traffic(),
    journals,
    rateCounts,
    addressOf: createAddressOf(config),
    addresses: configuredAddresses(config),
  };
  // Work that waits in cells that answer again is done at once.
  pulse?.onBack((numbers) => context.activity.heard(numbers));
  await parts.start(recordChanges(context));
  await checkMasterKey(context);
  if (config.environment === 'sandbox') await parts.start(new ClockFollower(pool, clock, log));
  return context;
}

async function startDatabase({ dataDir }: Config, log: Logger, parts: Parts): Promise<string> {
  const database = await startEmbedded({ dataDir, log });
  await parts.start(database);
  return database.socketUrl;
}

/** Creates what the first request and the first event need. */
async function prepareDatabase(context: Context): Promise<FirstToken> {
  // If another process holds the lock, that process creates the partitions.
  const { backgroundPool, clock, log } = context;
  for (const pool of await cellPools(backgroundPool))
    await Promise.all([createDays(pool, clock.now()), createAuditDays(pool, clock.now())]).catch((error: Error) =>
      log.warn({ reason: error.message }, "today's partitions could not be created; the worker tries again"),
    );
  return firstOperatorToken(context);
}

/** Starts the listeners of this process's roles. @returns the address of the operator interface, if it is one of them */
async function startListeners(starting: Starting): Promise<string | undefined> {
  const { context, sessions, routes } = starting;
  const { config, addresses } = context;
  const fault = config.roles.has('api') || config.roles.has('operator') ? pagesFault() : undefined;
  if (fault) context.log.warn(fault);
  if (config.roles.has('api')) {
    const app = await createClientListener(context, { sessions, routes });
    const listener = await listen(starting, app, {
      variable: 'LOMBARD_API_PORT',
      host: config.host,
      port: config.apiPort,
    });
    addresses.api = config.apiUrl ?? `http://${listener.authority}`;
  }
  if (config.roles.has('auth')) await startAuthListener(starting);
  if (config.roles.has('trusted')) await startTrustedListener(starting);
  if (!config.roles.has('operator')) return undefined;
  const app = await createOperatorListener(context, operatorRoutes, starting.configured);
  const listener = await listen(starting, app, {
    variable: 'LOMBARD_OPERATOR_PORT',
    host: config.operatorHost,
    port: config.operatorPort,
  });
  addresses.operator = config.operatorUrl ?? `http://${listener.authority}`;
  return `http://${listener.authority}`;
}

async function startAuthListener(starting: Starting): Promise<void> {
  const { context, parts, sessions, pools } = starting;
  const { config, log } = context;
  // Its own connections. Many sign-ins at once then take none from the payments search, and leave it no cold ones.
  const pool = createPool(urlOf(context.pool), log, {
    max: config.authPoolSize,
    name: 'lombard-auth',
    names: usesNames(config),
    cells: pathsOf(context.pool),
  });
  pools.push(pool);
  await parts.start({ stop: () => pool.end() });
  const app = await createAuthListener({ ...context, pool }, sessions);
  const listener = await listen(starting, app, {
    variable: 'LOMBARD_AUTH_PORT',
    host: config.host,
    port: config.authPort,
  });
  context.addresses.auth = config.authUrl ?? `http://${listener.authority}`;
}

async function startTrustedListener(starting: Starting): Promise<void> {
  const { context, parts, sessions, routes } = starting;
  const { config, log } = context;
  const trusted = await createTrustedListener(context, sessions, routes);
  if (!trusted) return;
  const { server, scheme, close } = trusted;
  const listening = { server, close, listen: (binding: { host: string; port: number }) => listenOn(server, binding) };
  const listener = await listen(starting, listening, {
    variable: 'LOMBARD_TRUSTED_PORT',
    host: config.host,
    port: config.trustedPort,
  });
  context.addresses.trusted = config.trustedUrl ?? `${scheme}://${listener.authority}`;
  const reload = () =>
    asRun('certificates', () => trusted.reload()).catch((error: Error) => {
      log.error({ reason: error.message }, 'the certificates could not be reloaded; the previous ones stay in force');
    });
  await parts.start({
    start: () => void process.on('SIGHUP', reload),
    stop: () => void process.off('SIGHUP', reload),
  });
}

async function listen({ parts }: Starting, listening: Listening, binding: Binding): Promise<Listener> {
  const listener = new Listener(listening, binding);
  await parts.start(listener, { takesWork: true });
  return listener;
}

import { mkdir } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { sealAudit } from './audit.ts';
import { ServiceClock } from './calendar.ts';
import type { Config } from './config.ts';
import type { Addresses, Context } from './context.ts';
import { Vault } from './crypto.ts';
import { createPool, PLANNED_ONCE } from './database.ts';
import { institutionFrom } from './documents/institution.ts';
import { Renderer } from './documents/renderer.ts';
import { startEmbedded } from './embedded/postgres.ts';
import { StartError } from './errors.ts';
import { buildAuthListener } from './http/auth/listener.ts';
import { accountRoutes } from './http/client/accounts.ts';
import { approvalRoutes } from './http/client/approvals.ts';
import { documentRoutes } from './http/client/documents.ts';
import { graphqlRoutes } from './http/client/graphql.ts';
import { buildApi } from './http/client/listener.ts';
import { massBeneficiaryRoutes } from './http/client/mass-beneficiaries.ts';
import { multipaymentRoutes } from './http/client/multipayments.ts';
import { paymentActionRoutes } from './http/client/payment-actions.ts';
import { paymentSearchRoutes } from './http/client/payments.ts';
import { statementRoutes } from './http/client/statements.ts';
import { webhookClientRoutes, webhookOperatorRoutes } from './http/client/webhooks.ts';
import { operatorAccountRoutes } from './http/operator/accounts.ts';
import { operatorApplicationRoutes } from './http/operator/applications.ts';
import { operatorBeneficiaryRoutes } from './http/operator/beneficiaries.ts';
import { operatorClientRoutes } from './http/operator/clients.ts';
import { operatorContactRoutes } from './http/operator/contacts.ts';
import { operatorImportRoutes } from './http/operator/imports.ts';
import { buildOperator } from './http/operator/listener.ts';
import { operatorMultipaymentRoutes } from './http/operator/multipayments.ts';
import { operatorPaymentRoutes } from './http/operator/payments.ts';
import { operatorStatementRoutes } from './http/operator/statements.ts';
import { operatorSystemRoutes } from './http/operator/system.ts';
import { operatorTokenRoutes } from './http/operator/tokens.ts';
import { operatorTradeRoutes } from './http/operator/trades.ts';
import { buildTrusted, type TrustedService } from './http/trusted/listener.ts';
import { opensSecrets } from './identity/master-key.ts';
import { Sessions } from './identity/sessions.ts';
import type { Logger } from './log.ts';
import { migrate } from './migrate.ts';
import { firstOperatorToken } from './operator/first-token.ts';
import { forgetAnswers } from './operator/idempotency.ts';
import { rollUpTotals } from './payments/totals.ts';
import { Periodic } from './periodic.ts';
import { sandboxKey } from './private-file.ts';
import { Autopilot } from './sandbox/autopilot.ts';
import { ClockFollower } from './sandbox/clock.ts';
import { StatementWorker } from './statements/worker.ts';
import { Bell } from './webhooks/bell.ts';
import { Dispatcher } from './webhooks/dispatcher.ts';
import { createDays } from './webhooks/retention.ts';

/** Milliseconds for what is under way when the service is told to stop. */
const STOP_WITHIN = 10_000;
/** Connections at most of one process: for requests, for those of the authorization server, and for everything that is no request. */
const REQUEST_CONNECTIONS = 8;
const AUTH_CONNECTIONS = 8;
const BACKGROUND_CONNECTIONS = 6;

export interface Service {
  context: Context;
  addresses: Addresses;
  operatorUrl: string | undefined;
  /** Known where it was configured, or made by this start. */
  operatorToken: string | undefined;
  /** Takes no new work, ends what is under way (10 s at most), and lets go of everything. */
  stop(): Promise<void>;
}

/**
 * The composition root: makes and wires everything that the process's roles need, by hand.
 * @param databaseUrl a server that runs already; without it and without DATABASE_URL the embedded one is started
 * @param prepare puts data in before anything is served: the demonstration institution
 * @throws StartError one line for the person who starts it
 */
export async function startService(
  config: Config,
  log: Logger,
  databaseUrl = config.databaseUrl,
  prepare: (context: Context) => Promise<void> = async () => {},
): Promise<Service> {
  const closers: (() => Promise<void> | void)[] = [];
  /** What may have work under way: it all ends at the same time, so that stopping takes 10 s at most. */
  const endings: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(endings.map((end) => end()));
    for (const close of closers.reverse()) await close();
  };
  try {
    await mkdir(config.dataDir, { recursive: true });
    const vault = new Vault(config.masterKey ?? (await sandboxKey(config.dataDir)));
    const url = databaseUrl ?? (await embeddedDatabase(config, log, closers));
    await migrate(url, log);

    const pool = createPool(url, log, { max: REQUEST_CONNECTIONS, name: 'lombard', setUp: PLANNED_ONCE });
    const patientPool = createPool(url, log, {
      max: BACKGROUND_CONNECTIONS,
      patient: true,
      name: 'lombard-background',
    });
    closers.push(
      () => pool.end(),
      () => patientPool.end(),
    );
    if (!(await opensSecrets(pool, vault))) {
      const fault = 'LOMBARD_MASTER_KEY is not the key that the secrets in this database are sealed with';
      if (config.environment === 'production') throw new StartError(fault);
      // A sandbox goes on: what needs none of the old secrets works.
      log.error(`${fault}: start it with that key, or with the data directory that holds it; sign-ins fail until then`);
    }
    const clock = new ServiceClock();
    if (config.environment === 'sandbox') {
      const follower = new ClockFollower(pool, clock, log);
      await follower.start();
      closers.push(() => follower.stop());
    }
    // What another process serves is known by its configured address, or by the one that its settings give.
    const addresses: Addresses = {
      api: config.apiUrl ?? `http://${config.host}:${config.apiPort}`,
      auth: config.authUrl ?? `http://${config.host}:${config.authPort}`,
      trusted: config.trustedUrl,
    };
    const context: Context = { config, pool, patientPool, clock, log, vault, addresses };
    // Made before anybody can write an event; where another process holds the lock, it makes them.
    await createDays(patientPool, clock.now()).catch((error: Error) =>
      log.warn({ reason: error.message }, 'the partitions of today could not be made; the worker tries again'),
    );
    const operatorToken = await firstOperatorToken(context);
    await prepare(context);

    const sessions = new Sessions(pool, clock, log);
    await sessions.start();
    closers.push(() => sessions.stop());

    const drawing = { renderer: new Renderer(), institution: institution(config) };
    closers.push(() => drawing.renderer.stop());
    const bell = new Bell(pool, log);
    // An answer follows the commit of what it tells of: then the delivery engine looks.
    const ringAfterwards: RequestListener = (request, response) => {
      if (request.method !== 'GET') response.once('finish', () => bell.ring());
    };
    let operatorUrl: string | undefined;
    const listen = async (app: FastifyInstance, host: string, port: number): Promise<string> => {
      endings.push(() => closeListener(app));
      app.server.on('request', ringAfterwards);
      await app.listen({ host, port }).catch((error: Error) => {
        throw new StartError(`cannot listen on ${host}:${port}: ${error.message}`);
      });
      return `http://${boundTo(app.server, host, port)}`;
    };
    const clientRoutes = [
      accountRoutes,
      paymentSearchRoutes,
      approvalRoutes,
      paymentActionRoutes,
      multipaymentRoutes,
      massBeneficiaryRoutes,
      graphqlRoutes(sessions),
      webhookClientRoutes,
      statementRoutes,
      documentRoutes(drawing),
    ];
    if (config.roles.has('api')) {
      const app = await buildApi(context, sessions, clientRoutes);
      const bound = await listen(app, config.host, config.apiPort);
      addresses.api = config.apiUrl ?? bound;
    }
    if (config.roles.has('auth')) {
      // Connections of its own: many sign-ins at once neither take those of the payments search nor leave it cold ones.
      const authPool = createPool(url, log, { max: AUTH_CONNECTIONS, name: 'lombard-auth', setUp: PLANNED_ONCE });
      closers.push(() => authPool.end());
      const app = await buildAuthListener({ ...context, pool: authPool }, sessions);
      const bound = await listen(app, config.host, config.authPort);
      addresses.auth = config.authUrl ?? bound;
    }
    if (config.roles.has('trusted')) {
      const trusted = await buildTrusted(context, sessions, clientRoutes);
      if (trusted) {
        addresses.trusted = await listenTrusted(trusted, config, endings);
        trusted.server.on('request', ringAfterwards);
        const reload = () =>
          trusted.reload().catch((error: Error) => {
            log.error({ reason: error.message }, 'certificates could not be read anew; those before stay in force');
          });
        process.on('SIGHUP', reload);
        closers.push(() => void process.off('SIGHUP', reload));
      }
    }
    if (config.roles.has('operator')) {
      const app = await buildOperator(context, [
        operatorTokenRoutes,
        operatorClientRoutes,
        operatorContactRoutes,
        operatorApplicationRoutes,
        operatorBeneficiaryRoutes,
        operatorTradeRoutes,
        operatorPaymentRoutes,
        operatorMultipaymentRoutes,
        operatorAccountRoutes,
        operatorSystemRoutes,
        operatorImportRoutes,
        webhookOperatorRoutes,
        operatorStatementRoutes,
      ]);
      operatorUrl = await listen(app, config.operatorHost, config.operatorPort);
    }
    if (config.roles.has('worker')) {
      startWorker(context, closers);
      if (config.autopilot !== undefined) {
        const autopilot = new Autopilot(context, config.autopilot);
        autopilot.start();
        closers.push(() => autopilot.stop());
      }
      const dispatcher = new Dispatcher(context);
      dispatcher.start();
      bell.listen(() => dispatcher.wake());
      const statements = new StatementWorker(context, drawing);
      statements.start();
      endings.push(
        () => dispatcher.stop(),
        () => statements.stop(),
      );
    }
    return { context, addresses, operatorUrl, operatorToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Background work: every process may do it; the database decides who does. */
function startWorker(context: Context, closers: (() => Promise<void> | void)[]): void {
  const { patientPool, clock, log } = context;
  const tasks = [
    // A second's changes are summed up for a fifth of what five times a fifth of them cost.
    new Periodic('payment totals', 1_000, log, async () => void (await rollUpTotals(patientPool))),
    new Periodic('audit seal', 1_000, log, async () => void (await sealAudit(patientPool))),
    new Periodic('idempotency answers', 600_000, log, () => forgetAnswers(patientPool, clock.now())),
  ];
  for (const task of tasks) {
    task.start();
    closers.push(() => task.stop());
  }
}

/** Host and port as a caller on this machine writes them. */
function boundTo(server: Server, host: string, port: number): string {
  const bound = server.address();
  const name = host === '0.0.0.0' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${name}:${typeof bound === 'object' && bound ? bound.port : port}`;
}

/** @returns the public address */
async function listenTrusted(
  trusted: TrustedService,
  config: Config,
  endings: (() => Promise<void>)[],
): Promise<string> {
  const { server } = trusted;
  endings.push(async () => {
    const timer = setTimeout(() => server.closeAllConnections(), STOP_WITHIN);
    await trusted.close();
    clearTimeout(timer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new StartError(`cannot listen on ${config.host}:${config.trustedPort}: ${error.message}`)),
    );
    server.listen(config.trustedPort, config.host, resolve);
  });
  return config.trustedUrl ?? `${trusted.scheme}://${boundTo(server, config.host, config.trustedPort)}`;
}

/** @throws StartError where the logo cannot be used */
function institution(config: Config) {
  try {
    return institutionFrom(config.institution);
  } catch (error) {
    throw new StartError(`LOMBARD_INSTITUTION_LOGO: ${(error as Error).message}`);
  }
}

async function closeListener(app: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), STOP_WITHIN);
  await app.close();
  clearTimeout(timer);
}

async function embeddedDatabase(
  config: Config,
  log: Logger,
  closers: (() => Promise<void>)[] | (() => Promise<void> | void)[],
): Promise<string> {
  const database = await startEmbedded({ dataDir: config.dataDir, log }).catch((error: Error) => {
    throw new StartError(error.message, { cause: error });
  });
  closers.push(() => database.stop());
  return database.url;
}

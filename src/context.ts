import type { IncomingMessage } from 'node:http';
import type { CellResources } from './database/cells/activity.ts';
import type { Pool } from './database/database.ts';
import type { Hearing } from './database/hearing.ts';
import type { RateCounts } from './database/rate-counts.ts';
import type { Journals } from './monitoring/journals.ts';
import type { Logger } from './process/log.ts';
import type { Patience } from './process/patience.ts';
import type { Readiness } from './process/readiness.ts';
import type { Traffic } from './process/traffic.ts';
import type { Config } from './settings/config.ts';
import type { Clock } from './values/calendar.ts';
import type { Vault } from './values/crypto.ts';

/** Public addresses, without a slash at the end. Links, issuer and redirects are made only from these. */
export interface Addresses {
  api: string;
  auth: string;
  trusted: string | undefined;
  operator: string;
  /** Undefined if this process does not know it. */
  health?: string | undefined;
}

/** The addresses of all listeners, including those that other processes serve: as configured, or made from host and port. */
export function configuredAddresses(config: Config): Addresses {
  return {
    api: config.apiUrl ?? `http://${config.host}:${config.apiPort}`,
    auth: config.authUrl ?? `http://${config.host}:${config.authPort}`,
    trusted: config.trustedUrl,
    operator: config.operatorUrl ?? `http://${config.operatorHost}:${config.operatorPort}`,
  };
}

/** What the parts of the running service share. It is made once, in service.ts. Background work uses the context of its cell (cells/contexts.ts). */
export interface Context extends CellResources {
  config: Config;
  /** For requests. Waits are limited (pools.ts), so that a lost database leads to a 502 in time. */
  pool: Pool;
  /** For background work, imports and exports. Queries may take any time. */
  backgroundPool: Pool;
  /** Receives the announcements of other processes. */
  hearing: Hearing;
  clock: Clock;
  log: Logger;
  vault: Vault;
  readiness: Readiness;
  patience: Readonly<Patience>;
  traffic: Traffic;
  /** Journals for support: refused requests and attempts to sign in. */
  journals: Journals;
  /** Exchanges the counts of rate limits with the other processes; undefined if no requests are limited. */
  rateCounts: RateCounts | undefined;
  /** The address that a request came from, as far as the proxies in LOMBARD_PROXIES vouch for it. */
  addressOf: (request: IncomingMessage) => string;
  addresses: Addresses;
}

/** A running service (service.ts). */
export interface Service {
  context: Context;
  addresses: Addresses;
  operatorUrl: string | undefined;
  /** Known if it was configured, or if this start made it. */
  operatorToken: string | undefined;
  readiness: Readiness;
  /** The health listener; undefined if the primary of LOMBARD_WORKERS has it. */
  healthUrl: string | undefined;
  /**
   * Stops the service: it is not ready from now on, goes on serving for LOMBARD_DRAIN, ends the work in flight within 10 seconds, and
   * releases everything.
   */
  stop(): Promise<void>;
}

/** How a service starts. */
export interface StartOptions {
  /** The connection string of a running PostgreSQL. By default DATABASE_URL, or else the embedded server, which then starts with the service. */
  databaseUrl?: string | undefined;
  /** Adds data before anything is served: the demonstration institution. */
  prepare?: (context: Context) => Promise<void>;
  /** Interrupts the start at any point. `startService` then releases everything and throws the reason. */
  interrupted?: AbortSignal;
  /** Whether this process has its own health listener; by default it does. */
  health?: boolean;
  /** By default PATIENCE. */
  patience?: Readonly<Patience> | undefined;
}

/** Starts the service. @throws StartupError one line for the person who starts it */
export type StartService = (config: Config, log: Logger, options?: StartOptions) => Promise<Service>;

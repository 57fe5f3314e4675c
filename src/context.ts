import type { IncomingMessage } from 'node:http';
import type { CellResources } from './database/cells/activity.ts';
import type { Pool } from './database/database.ts';
import type { Hearing } from './database/hearing.ts';
import type { RateCounts } from './database/rate-counts.ts';
import type { Journals } from './monitoring/journals.ts';
import type { Logger } from './process/log.ts';
import type { Patience } from './process/patience.ts';
import type { Readiness } from './process/readiness.ts';
import type { Config } from './settings/config.ts';
import type { Clock } from './values/calendar.ts';
import type { Vault } from './values/crypto.ts';

/** Public addresses, without a slash at the end. Links, issuer and redirects are made from these and from nothing else. */
export interface Addresses {
  api: string;
  auth: string;
  trusted: string | undefined;
  operator: string;
  /** Undefined where this process does not know it. */
  health?: string | undefined;
}

/** The addresses of all listeners, also of those that other processes serve: as configured, or made of host and port. */
export function configuredAddresses(config: Config): Addresses {
  return {
    api: config.apiUrl ?? `http://${config.host}:${config.apiPort}`,
    auth: config.authUrl ?? `http://${config.host}:${config.authPort}`,
    trusted: config.trustedUrl,
    operator: config.operatorUrl ?? `http://${config.operatorHost}:${config.operatorPort}`,
  };
}

/** What the parts of the running service share; made once, in service.ts. Background work has one of its cell (cells/contexts.ts). */
export interface Context extends CellResources {
  config: Config;
  /** For requests: waits are limited (pools.ts), so that a lost database is a 502 in time. */
  pool: Pool;
  /** For background work, imports and exports: queries may take any time. */
  backgroundPool: Pool;
  /** What other processes announce. */
  hearing: Hearing;
  clock: Clock;
  log: Logger;
  vault: Vault;
  readiness: Readiness;
  patience: Readonly<Patience>;
  /** What support looks for: refused requests, attempts to sign in. */
  journals: Journals;
  /** Exchanges the counts of rate limits with the other processes; undefined where no requests are limited. */
  rateCounts: RateCounts | undefined;
  /** Where a request came from, as far as LOMBARD_PROXIES are believed. */
  addressOf: (request: IncomingMessage) => string;
  addresses: Addresses;
}

/** A service that runs (service.ts). */
export interface Service {
  context: Context;
  addresses: Addresses;
  operatorUrl: string | undefined;
  /** Known if it was configured, or if this start made it. */
  operatorToken: string | undefined;
  readiness: Readiness;
  /** The health listener, unless the primary of LOMBARD_WORKERS has it. */
  healthUrl: string | undefined;
  /** Is not ready at once, serves on for LOMBARD_DRAIN, ends the work in flight within 10 seconds, and releases everything. */
  stop(): Promise<void>;
}

/** How a service starts. */
export interface StartOptions {
  /** A running PostgreSQL. Default: DATABASE_URL, or else the embedded server, which then starts with the service. */
  databaseUrl?: string | undefined;
  /** Puts data in before anything is served: the demonstration institution. */
  prepare?: (context: Context) => Promise<void>;
  /** Ends the start at whatever point it has reached; `startService` then throws the reason, after releasing everything. */
  interrupted?: AbortSignal;
  /** Whether this process has a health listener of its own. Default: yes. */
  health?: boolean;
  /** Default: PATIENCE. */
  patience?: Readonly<Patience> | undefined;
}

/** Starts the service. @throws StartupError one line for the person who starts it */
export type StartService = (config: Config, log: Logger, options?: StartOptions) => Promise<Service>;

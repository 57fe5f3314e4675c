import type { IncomingMessage } from 'node:http';
import type { CellResources } from './database/cells/activity.ts';
import type { Pool } from './database/database.ts';
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
  /** For requests: waits are limited (database.ts), so that a lost database is a 502 in time. */
  pool: Pool;
  /** For background work, imports and exports: queries may take any time. */
  backgroundPool: Pool;
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

import type { IncomingMessage } from 'node:http';
import type { Clock } from './calendar.ts';
import type { CellActivity, CellRhythm } from './cells/activity.ts';
import type { Config } from './config.ts';
import type { Vault } from './crypto.ts';
import type { Pool } from './database.ts';
import type { Journals } from './journals.ts';
import type { Logger } from './log.ts';
import type { RateCounts } from './rate-counts.ts';
import type { Readiness } from './readiness.ts';

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
export interface Context {
  config: Config;
  /** For requests: waits are limited (database.ts), so that a lost database is a 502 in time. */
  pool: Pool;
  /** For background work, imports and exports: queries may take any time. */
  backgroundPool: Pool;
  clock: Clock;
  log: Logger;
  vault: Vault;
  readiness: Readiness;
  /** What support looks for: refused requests, attempts to sign in. */
  journals: Journals;
  /** Exchanges the counts of rate limits with the other processes; undefined where no requests are limited. */
  rateCounts: RateCounts | undefined;
  /** Where a request came from, as far as LOMBARD_PROXIES are believed. */
  addressOf: (request: IncomingMessage) => string;
  addresses: Addresses;
  /** Where something was written; undefined where the database has one cell. */
  activity?: CellActivity | undefined;
  /** When the tasks of the cell run; undefined where the database has one. */
  rhythm?: CellRhythm | undefined;
}

/** A person of the institution: a subject of its OpenID provider. */
export interface StaffMember {
  issuer: string;
  subject: string;
}

/** Who changes something, when, and in which request: goes into the audit trail and into notifications. */
export interface Act {
  now: Date;
  /** `operator:<token name>`, `staff:<name>`, `contact:<contact_id>` or `service:<part>`. */
  actor: string;
  /** The person behind `staff:<name>`, as the institution's OpenID provider knows it. */
  staff?: StaffMember | undefined;
  /** Why, in the words of the person who does it. */
  reason?: string | undefined;
  requestId: string;
  /** Its changes have one audit row together, which is written by the code that makes the whole: `audit` writes none for them. */
  summarised?: true;
  /** Nobody is told of it by mail: an import without `?notify=true`. */
  quiet?: boolean;
}

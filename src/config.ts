import { isIP } from 'node:net';
import { isCalendarDay } from './calendar.ts';
import { StartupError } from './errors.ts';
import { LOG_LEVELS, type LogLevel } from './log.ts';

/** What a process may do; LOMBARD_ROLES. */
export const ROLES = ['api', 'auth', 'trusted', 'operator', 'worker'] as const;
export type Role = (typeof ROLES)[number];

/** Everything that the environment decides. docs/configuration.md lists every variable. */
export interface Config {
  environment: 'sandbox' | 'production';
  dataDir: string;
  databaseUrl: string | undefined;
  host: string;
  operatorHost: string;
  apiPort: number;
  authPort: number;
  trustedPort: number;
  operatorPort: number;
  apiUrl: string | undefined;
  authUrl: string | undefined;
  trustedUrl: string | undefined;
  operatorToken: string | undefined;
  masterKey: Buffer | undefined;
  trustedCert: string | undefined;
  trustedKey: string | undefined;
  trustedCa: string[];
  trustedCrl: string[];
  /** Addresses of proxies that end TLS and pass the client certificate (RFC 9440). */
  trustedProxies: AddressRange[];
  roles: ReadonlySet<Role>;
  workers: number;
  brand: string;
  /** Milliseconds before each further attempt. */
  webhookRetries: number[];
  /** Milliseconds. */
  webhookTimeout: number;
  webhookConcurrency: number;
  webhookAllow: AddressRange[];
  /** Days that the event log, notifications and attempts are kept. */
  webhookRetentionDays: number;
  /** Requests a minute; 0 is unlimited. */
  apiRate: number;
  authRate: number;
  /** Milliseconds between the steps of a payment, or undefined where payments do not move by themselves. */
  autopilot: number | undefined;
  trackingCutoff: string;
  statementMaxDays: number;
  smtpUrl: string | undefined;
  mailFrom: string;
  smsUrl: string | undefined;
  logLevel: LogLevel;
  institution: { name: string; address: string[]; logo: string | undefined; colour: string };
  /** A second application needs no second password while a session lives. */
  singleSignOn: boolean;
  requirePkce: boolean;
}

/** An address range in CIDR notation. */
export interface AddressRange {
  address: string;
  prefix: number;
}

type Environment = Record<string, string | undefined>;

/**
 * Reads the settings of the process.
 * @throws StartupError one line that names the variable, what was given (never for a secret) and what it takes
 */
export function readConfig(env: Environment = process.env): Config {
  const environment = oneOf(env, 'LOMBARD_ENVIRONMENT', ['sandbox', 'production'] as const, 'sandbox');
  const sandbox = environment === 'sandbox';
  const config: Config = {
    environment,
    dataDir: env.LOMBARD_DATA_DIR || './data',
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:'], { secret: true }),
    host: address(env, 'LOMBARD_HOST', '127.0.0.1'),
    operatorHost: address(env, 'LOMBARD_OPERATOR_HOST', '127.0.0.1'),
    apiPort: integer(env, 'LOMBARD_API_PORT', 8080, 0, 65_535),
    authPort: integer(env, 'LOMBARD_AUTH_PORT', 8081, 0, 65_535),
    trustedPort: integer(env, 'LOMBARD_TRUSTED_PORT', 8443, 0, 65_535),
    operatorPort: integer(env, 'LOMBARD_OPERATOR_PORT', 8090, 0, 65_535),
    apiUrl: publicUrl(env, 'LOMBARD_API_URL'),
    authUrl: publicUrl(env, 'LOMBARD_AUTH_URL'),
    trustedUrl: publicUrl(env, 'LOMBARD_TRUSTED_URL'),
    operatorToken: secret(env, 'LOMBARD_OPERATOR_TOKEN', 16),
    masterKey: masterKey(env),
    trustedCert: env.LOMBARD_TRUSTED_CERT || undefined,
    trustedKey: env.LOMBARD_TRUSTED_KEY || undefined,
    trustedCa: list(env.LOMBARD_TRUSTED_CA),
    trustedCrl: list(env.LOMBARD_TRUSTED_CRL),
    trustedProxies: ranges(env, 'LOMBARD_TRUSTED_PROXIES', ''),
    roles: roles(env),
    workers: integer(env, 'LOMBARD_WORKERS', 1, 1, 128),
    brand: pattern(env, 'LOMBARD_BRAND', 'Service', /^[A-Za-z][A-Za-z0-9]{0,31}$/, '1 to 32 letters and digits'),
    webhookRetries: durations(env, 'LOMBARD_WEBHOOK_RETRIES', '5s,1m,5m,30m,2h,5h,10h,10h,24h,24h'),
    webhookTimeout: duration('LOMBARD_WEBHOOK_TIMEOUT', env.LOMBARD_WEBHOOK_TIMEOUT || '10s'),
    webhookConcurrency: integer(env, 'LOMBARD_WEBHOOK_CONCURRENCY', 16, 1, 1_000),
    webhookAllow: ranges(env, 'LOMBARD_WEBHOOK_ALLOW', sandbox ? '127.0.0.0/8,::1' : ''),
    webhookRetentionDays: integer(env, 'LOMBARD_WEBHOOK_RETENTION_DAYS', 90, 2, 3_650),
    apiRate: integer(env, 'LOMBARD_API_RATE', 500, 0, 1_000_000_000),
    authRate: integer(env, 'LOMBARD_AUTH_RATE', 60, 0, 1_000_000_000),
    autopilot: autopilot(env),
    trackingCutoff: pattern(env, 'LOMBARD_TRACKING_CUTOFF', '2020-01-01', isCalendarDay, 'a day, as 2020-01-01'),
    statementMaxDays: integer(env, 'LOMBARD_STATEMENT_MAX_DAYS', 366, 1, 3_660),
    smtpUrl: url(env, 'SMTP_URL', ['smtp:', 'smtps:'], { secret: true }),
    mailFrom: pattern(
      env,
      'LOMBARD_MAIL_FROM',
      'Lombard <no-reply@localhost>',
      /^[^\r\n]*@[^\r\n]+$/,
      'a mail address',
    ),
    smsUrl: url(env, 'LOMBARD_SMS_URL', ['http:', 'https:'], { secret: true }),
    logLevel: oneOf(env, 'LOMBARD_LOG_LEVEL', LOG_LEVELS, 'info'),
    institution: {
      name: env.LOMBARD_INSTITUTION_NAME || 'Lombard Sandbox',
      address: (env.LOMBARD_INSTITUTION_ADDRESS || '1 Lombard Street|London EC3V 9AA|United Kingdom').split('|'),
      logo: env.LOMBARD_INSTITUTION_LOGO || undefined,
      colour: pattern(env, 'LOMBARD_INSTITUTION_COLOUR', '#14532d', /^#[0-9a-fA-F]{6}$/, 'a colour, as #14532d'),
    },
    singleSignOn: flag(env, 'LOMBARD_SINGLE_SIGN_ON'),
    requirePkce: flag(env, 'LOMBARD_REQUIRE_PKCE'),
  };
  if ((config.trustedCert === undefined) !== (config.trustedKey === undefined)) {
    throw new StartupError('LOMBARD_TRUSTED_CERT and LOMBARD_TRUSTED_KEY go together: give both or neither');
  }
  if (!sandbox) refuseUnsafe(config, env);
  return config;
}

/** Names everything at once that is unsafe in production; the operator token is looked for in the database later (service.ts). */
function refuseUnsafe(config: Config, env: Environment): void {
  const faults: string[] = [];
  if (!config.masterKey) faults.push('LOMBARD_MASTER_KEY is not set');
  for (const [name, value] of [
    ['LOMBARD_API_URL', config.apiUrl],
    ['LOMBARD_AUTH_URL', config.authUrl],
    ['LOMBARD_TRUSTED_URL', config.trustedUrl],
  ] as const) {
    const wanted = name !== 'LOMBARD_TRUSTED_URL' || config.trustedCert !== undefined || value !== undefined;
    if (wanted && !value?.startsWith('https:')) faults.push(`${name} is not an https address`);
  }
  if (!config.smtpUrl) faults.push('SMTP_URL is not set');
  if (!config.databaseUrl && !flag(env, 'LOMBARD_EMBEDDED')) {
    faults.push('DATABASE_URL is not set (the embedded database needs LOMBARD_EMBEDDED=yes)');
  }
  if (config.autopilot !== undefined) faults.push('LOMBARD_AUTOPILOT is set');
  if (faults.length > 0)
    throw new StartupError(`LOMBARD_ENVIRONMENT=production refuses to start: ${faults.join('; ')}`);
}

function wrong(name: string, given: string | undefined, takes: string): StartupError {
  return new StartupError(
    given === undefined ? `${name}: takes ${takes}` : `${name}: "${given}" was given; it takes ${takes}`,
  );
}

function oneOf<T extends string>(env: Environment, name: string, values: readonly T[], otherwise: T): T {
  const given = env[name];
  if (!given) return otherwise;
  if (!values.includes(given as T)) throw wrong(name, given, values.join(' or '));
  return given as T;
}

function integer(env: Environment, name: string, otherwise: number, least: number, most: number): number {
  const given = env[name];
  if (!given) return otherwise;
  const value = Number(given);
  if (!/^\d+$/.test(given) || value < least || value > most)
    throw wrong(name, given, `a whole number from ${least} to ${most}`);
  return value;
}

function pattern(
  env: Environment,
  name: string,
  otherwise: string,
  takes: RegExp | ((text: string) => boolean),
  words: string,
): string {
  const given = env[name];
  if (!given) return otherwise;
  const fits = takes instanceof RegExp ? takes.test(given) : takes(given);
  if (!fits) throw wrong(name, given, words);
  return given;
}

function flag(env: Environment, name: string): boolean {
  return oneOf(env, name, ['yes', 'no'] as const, 'no') === 'yes';
}

function address(env: Environment, name: string, otherwise: string): string {
  return pattern(
    env,
    name,
    otherwise,
    (text) => isIP(text) !== 0 || /^[A-Za-z0-9.-]+$/.test(text),
    'an address or a host name',
  );
}

function secret(env: Environment, name: string, least: number): string | undefined {
  const given = env[name];
  if (!given) return undefined;
  if (given.length < least || /\s/.test(given))
    throw wrong(name, undefined, `at least ${least} characters without white space`);
  return given;
}

function masterKey(env: Environment): Buffer | undefined {
  const given = env.LOMBARD_MASTER_KEY;
  if (!given) return undefined;
  const key = Buffer.from(given, 'base64');
  if (key.length !== 32)
    throw wrong('LOMBARD_MASTER_KEY', undefined, '32 bytes in base64, as `openssl rand -base64 32` prints');
  return key;
}

function url(env: Environment, name: string, protocols: string[], options: { secret: boolean }): string | undefined {
  const given = env[name];
  if (!given) return undefined;
  if (!URL.canParse(given) || !protocols.includes(new URL(given).protocol)) {
    throw wrong(
      name,
      options.secret ? undefined : given,
      `an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );
  }
  return given;
}

function publicUrl(env: Environment, name: string): string | undefined {
  const given = url(env, name, ['http:', 'https:'], { secret: false });
  if (given === undefined) return undefined;
  const { search, hash, username } = new URL(given);
  if (search || hash || username) throw wrong(name, given, 'an http or https address without query, fragment and user');
  return given.replace(/\/+$/, '');
}

function list(given: string | undefined): string[] {
  return (given ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

function roles(env: Environment): ReadonlySet<Role> {
  const given = list(env.LOMBARD_ROLES);
  for (const role of given)
    if (!ROLES.includes(role as Role)) throw wrong('LOMBARD_ROLES', role, `a list of ${ROLES.join(', ')}`);
  return new Set(given.length > 0 ? (given as Role[]) : ROLES);
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A week: no wait between attempts, and no step of the autopilot, is longer. */
const MAX_DURATION = 7 * 86_400_000;

function duration(name: string, given: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(given.trim());
  const value = match ? Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0) : 0;
  if (value <= 0 || value > MAX_DURATION) throw wrong(name, given, 'a duration, as 500ms, 5s, 10m, 2h (at most 7d)');
  return value;
}

function durations(env: Environment, name: string, otherwise: string): number[] {
  return list(env[name] || otherwise).map((item) => duration(name, item));
}

function autopilot(env: Environment): number | undefined {
  const given = env.LOMBARD_AUTOPILOT;
  return !given || given === 'off' ? undefined : duration('LOMBARD_AUTOPILOT', given);
}

function ranges(env: Environment, name: string, otherwise: string): AddressRange[] {
  return list(env[name] ?? otherwise).map((item) => {
    const [base = '', bits, ...rest] = item.split('/');
    const family = isIP(base);
    const width = family === 6 ? 128 : 32;
    const prefix = bits === undefined ? width : Number(bits);
    if (family === 0 || rest.length > 0 || (bits !== undefined && !/^\d+$/.test(bits)) || prefix > width) {
      throw wrong(name, item, 'address ranges, as 10.0.0.0/8 or ::1, separated by commas');
    }
    return { address: base, prefix };
  });
}

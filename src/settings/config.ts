import { LOG_LEVELS } from '../process/log.ts';
import { isCalendarDay } from '../values/calendar.ts';
import { StartupError } from '../values/errors.ts';
import { type Environment, needs, Settings } from './settings.ts';
import { readStaff } from './staff-settings.ts';

/** The roles of a process; LOMBARD_ROLES. */
const ROLES = ['api', 'auth', 'trusted', 'operator', 'worker'] as const;

/** The header in which a proxy writes the address that a request came from; LOMBARD_PROXY_HEADER. */
const PROXY_HEADERS = ['x-forwarded-for', 'forwarded'] as const;

/** Relative to the working directory, so that commands find it when they are called from the same directory as the service. */
export const DEFAULT_DATA_DIR = './data';

const MIN_OPERATOR_TOKEN_CHARACTERS = 16;
const MAX_PORT = 65_535;
/** The most database connections of a pool. */
const MAX_POOL_CONNECTIONS = 1_000;
/** The most requests a minute. */
const MAX_RATE = 1_000_000_000;
const MAX_CELLS = 1_024;
/** A mail address, alone or in angle brackets behind a name. */
const SENDER = /^(?:[^\r\n<>]*<[^\s@<>"(),:;]+@[^\s@<>"(),:;]+>|[^\s@<>"(),:;]+@[^\s@<>"(),:;]+)$/;

/** All settings from the environment. docs/configuration.md lists every variable. */
export type Config = ReturnType<typeof readAll>;

/** The directory of a person's configuration (XDG Base Directory Specification); undefined if the environment leaves it at ~/.config. */
export function userConfigHome(env: Environment = process.env): string | undefined {
  // By the specification, an unset variable, an empty one and a relative path all mean the default.
  return env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : undefined;
}

/**
 * Reads the settings of the process.
 * @throws StartupError one line that names the variable, what it must be, and what it is (never for a secret). In production it may instead
 * be one line that lists everything unsafe
 */
export function readConfig(env: Environment = process.env): Config {
  const { config, unsafe } = examineConfig(env);
  refuseUnsafe(unsafe);
  return config;
}

/** @throws StartupError one line that lists everything that is unsafe in production, if anything is */
export function refuseUnsafe(unsafe: readonly string[]): void {
  if (unsafe.length > 0)
    throw new StartupError(`LOMBARD_ENVIRONMENT=production refuses to start: ${unsafe.join('; ')}`);
}

/**
 * Reads the settings without refusing what is unsafe.
 * @returns `unsafe`: what production refuses; `unknown`: variables that look like settings but are not
 * @throws StartupError if a value is wrong
 */
export function examineConfig(env: Environment = process.env): {
  config: Config;
  unsafe: string[];
  unknown: string[];
} {
  const settings = new Settings(env);
  const config = readAll(settings);
  const embedded = settings.flag('LOMBARD_EMBEDDED');
  const unsafe = config.environment === 'production' ? unsafeIn(config, embedded) : [];
  return { config, unsafe, unknown: settings.unknown() };
}

function readAll(settings: Settings) {
  const environment = settings.oneOf('LOMBARD_ENVIRONMENT', ['sandbox', 'production'], 'sandbox');
  return {
    environment,
    dataDir: settings.text('LOMBARD_DATA_DIR') ?? DEFAULT_DATA_DIR,
    ...readDatabase(settings),
    smtpUrl: settings.url('SMTP_URL', ['smtp:', 'smtps:'], { secret: true }),
    mailFrom: settings.matching('LOMBARD_MAIL_FROM', 'Lombard <no-reply@localhost>', {
      takes: SENDER,
      words: 'a mail address',
    }),
    smsUrl: settings.url('LOMBARD_SMS_URL', ['http:', 'https:'], { secret: true }),
    /** Where traces are sent (OTLP over HTTP); undefined: they are not collected. */
    tracesUrl: settings.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], { secret: false }),
    logLevel: settings.oneOf('LOMBARD_LOG_LEVEL', LOG_LEVELS, 'info'),
    workers: settings.integer('LOMBARD_WORKERS', 1, { min: 1, max: 128 }),
    /** Milliseconds for which a stopping process is not ready but still serves. */
    drain: settings.durationOrZero('LOMBARD_DRAIN', environment === 'production' ? '5s' : '0s'),
    roles: settings.someOf('LOMBARD_ROLES', ROLES),
    operatorToken: settings.secret('LOMBARD_OPERATOR_TOKEN', MIN_OPERATOR_TOKEN_CHARACTERS),
    /** The first key seals, and all of them open. If empty, the sandbox makes one itself. */
    masterKeys: settings.keys('LOMBARD_MASTER_KEY'),
    /** Milliseconds between the steps of a payment; undefined if payments do not move by themselves. */
    autopilot: settings.durationOrOff('LOMBARD_AUTOPILOT'),
    trackingCutoff: settings.matching('LOMBARD_TRACKING_CUTOFF', '2020-01-01', {
      takes: isCalendarDay,
      words: 'a day, as 2020-01-01',
    }),
    statementMaxDays: settings.integer('LOMBARD_STATEMENT_MAX_DAYS', 366, { min: 1, max: 3_660 }),
    /** A second application needs no password again while a session lives. */
    singleSignOn: settings.flag('LOMBARD_SINGLE_SIGN_ON'),
    requirePkce: settings.flag('LOMBARD_REQUIRE_PKCE'),
    /** Milliseconds without activity after which the pages sign a person out. */
    appIdle: settings.duration('LOMBARD_APP_IDLE', '15m'),
    /** Whether people get mails about payments that wait for them. */
    approvalMails: settings.flag('LOMBARD_APPROVAL_MAILS', 'yes'),
    /** The provider where the institution's staff signs in; undefined: they use operator tokens. */
    staff: readStaff(settings, environment),
    /** A file that replaces the table of bank details. */
    bankDetails: settings.text('LOMBARD_BANK_DETAILS'),
    ...readListeners(settings),
    ...readPools(settings),
    ...readTrusted(settings, environment),
    ...readWebhooks(settings, environment),
    ...readInstitution(settings),
  };
}

function readListeners(settings: Settings) {
  const port = (name: string, otherwise: number) => settings.integer(name, otherwise, { min: 0, max: MAX_PORT });
  return {
    host: settings.host('LOMBARD_HOST', '127.0.0.1'),
    operatorHost: settings.host('LOMBARD_OPERATOR_HOST', '127.0.0.1'),
    apiPort: port('LOMBARD_API_PORT', 8080),
    authPort: port('LOMBARD_AUTH_PORT', 8081),
    trustedPort: port('LOMBARD_TRUSTED_PORT', 8443),
    operatorPort: port('LOMBARD_OPERATOR_PORT', 8090),
    healthHost: settings.host('LOMBARD_HEALTH_HOST', '127.0.0.1'),
    /** `ifTaken`: whether a free port may be used instead, because nobody asked for this one. */
    healthPort: {
      port: port('LOMBARD_HEALTH_PORT', 8091),
      ifTaken: settings.text('LOMBARD_HEALTH_PORT') === undefined ? ('free' as const) : ('refuse' as const),
    },
    /** The port of the demonstration's sample application; undefined: 3000. */
    samplePort: settings.integer('LOMBARD_SAMPLE_PORT', undefined, { min: 0, max: MAX_PORT }),
    /** Proxies whose forwarded addresses are trusted, and the header in which they write them. */
    proxies: settings.ranges('LOMBARD_PROXIES', ''),
    proxyHeader: settings.oneOf('LOMBARD_PROXY_HEADER', PROXY_HEADERS, 'x-forwarded-for'),
    apiUrl: settings.publicUrl('LOMBARD_API_URL'),
    authUrl: settings.publicUrl('LOMBARD_AUTH_URL'),
    trustedUrl: settings.publicUrl('LOMBARD_TRUSTED_URL'),
    operatorUrl: settings.publicUrl('LOMBARD_OPERATOR_URL'),
    /** Requests a minute; 0 is unlimited. */
    apiRate: settings.integer('LOMBARD_API_RATE', 500, { min: 0, max: MAX_RATE }),
    authRate: settings.integer('LOMBARD_AUTH_RATE', 60, { min: 0, max: MAX_RATE }),
  };
}

function readDatabase(settings: Settings) {
  const database = {
    databaseUrl: settings.databaseUrl('DATABASE_URL'),
    /** The address of the server itself, if DATABASE_URL leads through a pooler in transaction mode. */
    sessionDatabaseUrl: settings.databaseUrl('LOMBARD_SESSION_DATABASE_URL'),
    /** The owner's address, if the role in DATABASE_URL may not alter anything. */
    migrateDatabaseUrl: settings.databaseUrl('LOMBARD_MIGRATE_DATABASE_URL'),
    /** Whether a start migrates. */
    migrate: settings.oneOf('LOMBARD_MIGRATE', ['yes', 'no'], 'yes') === 'yes',
    /** The number of cells on a distributed PostgreSQL; undefined: as many as it has, or 32. */
    cells: settings.integer('LOMBARD_CELLS', undefined, { min: 1, max: MAX_CELLS }),
  };
  if (database.databaseUrl) return database;
  for (const [name, given] of [
    ['LOMBARD_SESSION_DATABASE_URL', database.sessionDatabaseUrl],
    ['LOMBARD_MIGRATE_DATABASE_URL', database.migrateDatabaseUrl],
  ] as const)
    if (given) throw needs(name, 'DATABASE_URL');
  return database;
}

function readPools(settings: Settings) {
  const size = (name: string, otherwise: number) =>
    settings.integer(name, otherwise, { min: 1, max: MAX_POOL_CONNECTIONS });
  return {
    /** Database connections of each pool of a process. */
    poolSize: size('LOMBARD_POOL', 8),
    authPoolSize: size('LOMBARD_AUTH_POOL', 8),
    backgroundPoolSize: size('LOMBARD_BACKGROUND_POOL', 6),
  };
}

function readTrusted(settings: Settings, environment: 'sandbox' | 'production') {
  const trusted = {
    trustedCert: settings.text('LOMBARD_TRUSTED_CERT'),
    trustedKey: settings.text('LOMBARD_TRUSTED_KEY'),
    trustedCa: settings.list('LOMBARD_TRUSTED_CA'),
    trustedCrl: settings.list('LOMBARD_TRUSTED_CRL'),
    /** Addresses of proxies that terminate TLS and pass on the client certificate (RFC 9440). */
    trustedProxies: settings.ranges('LOMBARD_TRUSTED_PROXIES', ''),
  };
  const { trustedCert: cert, trustedKey: key, trustedCa: ca, trustedCrl: crl, trustedProxies: proxies } = trusted;
  if (cert && !key) throw needs('LOMBARD_TRUSTED_CERT', 'LOMBARD_TRUSTED_KEY', cert);
  if (key && !cert) throw needs('LOMBARD_TRUSTED_KEY', 'LOMBARD_TRUSTED_CERT', key);
  // Behind a proxy that terminates TLS, the listener needs no certificate of its own.
  const server = cert !== undefined || proxies.length > 0;
  const servers = 'LOMBARD_TRUSTED_CERT and LOMBARD_TRUSTED_KEY (or LOMBARD_TRUSTED_PROXIES)';
  if (ca.length > 0 && !server) throw needs('LOMBARD_TRUSTED_CA', servers, ca.join(','));
  if (crl.length > 0 && !server) throw needs('LOMBARD_TRUSTED_CRL', servers, crl.join(','));
  if (cert && ca.length === 0) throw needs('LOMBARD_TRUSTED_CERT', 'LOMBARD_TRUSTED_CA', cert);
  // A sandbox has an authority that it made itself.
  if (proxies.length > 0 && ca.length === 0 && environment === 'production')
    throw needs('LOMBARD_TRUSTED_PROXIES', 'LOMBARD_TRUSTED_CA');
  if (crl.length > 0 && ca.length === 0) throw needs('LOMBARD_TRUSTED_CRL', 'LOMBARD_TRUSTED_CA', crl.join(','));
  return trusted;
}

function readWebhooks(settings: Settings, environment: 'sandbox' | 'production') {
  return {
    /** Milliseconds before each further attempt. */
    webhookRetries: settings.durations('LOMBARD_WEBHOOK_RETRIES', '5s,1m,5m,30m,2h,5h,10h,10h,24h,24h'),
    /** In milliseconds. */
    webhookTimeout: settings.duration('LOMBARD_WEBHOOK_TIMEOUT', '10s'),
    webhookConcurrency: settings.integer('LOMBARD_WEBHOOK_CONCURRENCY', 16, { min: 1, max: 1_000 }),
    webhookAllow: settings.ranges('LOMBARD_WEBHOOK_ALLOW', environment === 'sandbox' ? '127.0.0.0/8,::1' : ''),
    changesRetentionDays: settings.integer('LOMBARD_CHANGES_RETENTION_DAYS', 30, { min: 1, max: 3_650 }),
    /** 0 keeps it for ever. */
    auditRetentionDays: settings.integer('LOMBARD_AUDIT_RETENTION_DAYS', 0, { min: 0, max: 36_500 }),
    /** Days for which the event log, notifications and attempts are kept. */
    webhookRetentionDays: settings.integer('LOMBARD_WEBHOOK_RETENTION_DAYS', 90, { min: 2, max: 3_650 }),
  };
}

function readInstitution(settings: Settings) {
  const address = settings.text('LOMBARD_INSTITUTION_ADDRESS') ?? '1 Lombard Street|London EC3V 9AA|United Kingdom';
  return {
    brand: settings.matching('LOMBARD_BRAND', 'Service', {
      takes: /^[A-Za-z][A-Za-z0-9]{0,31}$/,
      words: '1 to 32 letters and digits, the first a letter',
    }),
    /** A directory of fonts for scripts that the service's own fonts do not cover. */
    documentFonts: settings.text('LOMBARD_DOCUMENT_FONTS'),
    institution: {
      name: settings.text('LOMBARD_INSTITUTION_NAME') ?? 'Lombard Sandbox',
      address: address.split('|'),
      logo: settings.text('LOMBARD_INSTITUTION_LOGO'),
      colour: settings.matching('LOMBARD_INSTITUTION_COLOUR', '#14532d', {
        takes: /^#[0-9a-fA-F]{6}$/,
        words: 'a colour, as #14532d',
      }),
    },
  };
}

/** Everything that is unsafe in production. The start checks separately whether there is an operator token. */
function unsafeIn(config: Config, embedded: boolean): string[] {
  const faults: string[] = [];
  if (config.masterKeys.length === 0) faults.push('LOMBARD_MASTER_KEY is not set');
  const https = (name: string, value: string | undefined) => {
    if (!value?.startsWith('https:')) faults.push(`${name} is not an https address`);
  };
  https('LOMBARD_API_URL', config.apiUrl);
  https('LOMBARD_AUTH_URL', config.authUrl);
  // Without a provider and an address, nobody signs in to the console through a proxy.
  if (config.staff || config.operatorUrl !== undefined) https('LOMBARD_OPERATOR_URL', config.operatorUrl);
  // Behind a proxy the trusted listener speaks HTTP, so its own address would be published without TLS.
  const trusted = config.trustedCert !== undefined || config.trustedProxies.length > 0;
  if (trusted || config.trustedUrl !== undefined) https('LOMBARD_TRUSTED_URL', config.trustedUrl);
  if (!config.smtpUrl) faults.push('SMTP_URL is not set');
  if (!config.databaseUrl && !embedded) {
    faults.push('DATABASE_URL is not set (the embedded database needs LOMBARD_EMBEDDED=yes)');
  }
  if (config.autopilot !== undefined) faults.push('LOMBARD_AUTOPILOT is set');
  return faults;
}

import { hostname } from 'node:os';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Fields whose values are never logged, at the top of a record or one level below. `code` is not one of them, because it states why a
 * request was refused.
 */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'password',
  'secret',
  'token',
  'authorization',
  'client_secret',
  'access_token',
  'refresh_token',
]);

type Fields = Record<string, unknown>;

/**
 * Makes the log. Fields that all lines of a child share (`child`) are not looked through, so they must have no secret.
 * @param pretty coloured lines for a terminal, instead of JSON lines
 */
export function createLog(level: LogLevel, pretty: boolean): Logger {
  return pino({
    level,
    base: { host: hostname(), pid: process.pid },
    // pino's own redaction costs each line about eight times what writing it takes (docs/performance.md).
    formatters: { log: withoutSecrets },
    ...(pretty
      ? {
          transport: {
            target: 'pino-pretty',
            options: { ignore: 'pid,host', translateTime: 'HH:MM:ss', singleLine: true },
          },
        }
      : {}),
  });
}

/** A record without the values of secret fields. @returns the record itself if it has none */
function withoutSecrets(record: Fields): Fields {
  let clean = record;
  for (const name in record) {
    const value = record[name];
    const shown = SECRET_FIELDS.has(name) && value !== undefined ? '[redacted]' : withoutOwnSecrets(value);
    if (shown === value) continue;
    if (clean === record) clean = { ...record };
    clean[name] = shown;
  }
  return clean;
}

/** A value of a record, without the secret fields that it has itself. */
function withoutOwnSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const secret = Object.keys(value).filter((name) => SECRET_FIELDS.has(name));
  return secret.length === 0 ? value : { ...value, ...Object.fromEntries(secret.map((name) => [name, '[redacted]'])) };
}

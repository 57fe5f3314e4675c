import { hostname } from 'node:os';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Fields whose values are never logged, at the top of a record or one level below. `code` is not one of them, because it states why a
 * request was refused.
 */
const SECRET_FIELDS = [
  'password',
  'secret',
  'token',
  'authorization',
  'client_secret',
  'access_token',
  'refresh_token',
];

/** @param pretty coloured lines for a terminal, instead of JSON lines */
export function createLog(level: LogLevel, pretty: boolean): Logger {
  return pino({
    level,
    base: { host: hostname(), pid: process.pid },
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    ...(pretty
      ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,host', translateTime: 'HH:MM:ss' } } }
      : {}),
  });
}

import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields whose values are never logged, at the top of a record or one level below. */
const SECRET_FIELDS = [
  'password',
  'secret',
  'token',
  'authorization',
  'client_secret',
  'access_token',
  'refresh_token',
  'code',
];

/** @param pretty coloured lines for a terminal, in place of JSON lines */
export function createLog(level: LogLevel, pretty: boolean): Logger {
  return pino({
    level,
    base: undefined,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    ...(pretty
      ? { transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss' } } }
      : {}),
  });
}

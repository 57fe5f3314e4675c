import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields that are never written, wherever a caller puts them. */
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

/** JSON lines on standard output; coloured lines on a terminal. */
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

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const CONNECTION_MESSAGES =
  /Connection terminated|Client has encountered a connection error|not queryable|Connection ended|timeout expired/;

/** The pool's message if no connection became free in time. */
const NO_CONNECTION = /timeout exceeded when trying to connect/;

/** The message of pg if an answer does not come in time. */
export const SILENCE = 'Query read timeout';

/** What a SQLSTATE, or a class of them, says about the database. The first pattern that fits counts. */
const STATES: [RegExp, string][] = [
  [/^25006/, 'the database is read-only'],
  [/^53100/, 'the database is full: its disk has no space left'],
  [/^53300/, 'the database has no free connection'],
  [/^53/, 'the database has too little memory or disk'],
  [/^57P/, 'the database is starting or stopping'],
  [/^57014/, 'the database took too long'],
  [/^(40|55P03)/, 'the database could not complete this beside other changes'],
  [/^(58|XX)/, 'the database reports a fault of its own'],
  [/^08/, 'the database cannot be reached'],
  [/^28/, 'the database refuses the user or the password'],
  [/^3D/, 'the server does not have the database'],
];

/**
 * Why the database could not do what it was asked, if the cause lies with the database: it is out of reach, silent, read-only or full.
 * @returns undefined for every other error
 */
export function databaseFault(error: unknown): string | undefined {
  const { code, message } = said(error);
  const state = STATES.find(([pattern]) => pattern.test(code));
  if (state) return state[1];
  if (silence(error)) return 'the database does not answer';
  if (NO_CONNECTION.test(message)) return 'no database connection became free in time';
  if (CONNECTION_ERRORS.has(code) || CONNECTION_MESSAGES.test(message)) return 'the database cannot be reached';
  return undefined;
}

/** Whether a server is there but refuses the login, because the password, the user or the database is wrong. */
export function refusesLogin(error: unknown): boolean {
  return /^(28|3D|42501)/.test(said(error).code);
}

/** States of a broken link or server. On a cluster it may be a server other than the one that reports it. */
const BROKEN = /^(08|57P|58|XX)/;

/** Whether the server itself has refused a statement or a commit. Then its transaction is undone, and nobody has to check. */
export function refusedByServer(error: unknown): boolean {
  const { severity, code } = said(error);
  return severity === 'ERROR' && !BROKEN.test(code);
}

/** Whether the server gave no answer in time. The statement may still be running. */
export function silence(error: unknown): boolean {
  return said(error).message === SILENCE;
}

/** Whether a wait for an answer or for a connection has timed out. */
export function waitedInVain(error: unknown): boolean {
  return silence(error) || NO_CONNECTION.test(said(error).message);
}

/** Whether a connection leads to a server that takes no writes, for example one that another has replaced. Such a connection is closed. */
export function refusesWrites(error: unknown): boolean {
  return said(error).code === '25006';
}

/** Code, message and severity of an error. This file imports nothing, because every transaction depends on it. */
function said(error: unknown): { code: string; message: string; severity: string } {
  if (typeof error !== 'object' || error === null) return { code: '', message: String(error), severity: '' };
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    code: text('code' in error && error.code),
    message: text('message' in error && error.message),
    severity: text('severity' in error && error.severity),
  };
}

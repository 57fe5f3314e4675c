import { type BodyFault, LombardError } from '../../sdk/src/index.ts';
import { type ErrorCode, MESSAGES, Problem } from '../values/errors.ts';
import { codeOf, fieldsOf, listOf, messageOf } from '../values/unknown.ts';
import { outputClosed } from './output.ts';
import { printable } from './printer.ts';

/** Exit statuses: failure, wrong usage, nobody signed in, interrupted (as a shell reports SIGINT). */
const FAILED = 1;
export const USAGE = 2;
export const NOT_SIGNED_IN = 3;
export const INTERRUPTED = 130;

/** Ends a command that cannot do what it was asked: one line on standard error, and its exit status. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;
  readonly refusal: ErrorMessage | undefined;

  /**
   * @param message empty if it has already been written
   * @param refusal what programs get, if the failure has a code of the catalogue
   */
  constructor(message: string, exitCode: 1 | 2 | 3 | 130 = FAILED, refusal?: ErrorMessage) {
    super(message);
    this.exitCode = exitCode;
    this.refusal = refusal;
  }
}

/** The ErrorMessage of a failure, for programs (`--json`). */
export interface ErrorMessage {
  code: string;
  message: string;
  details: string;
  /** All faults, if there are several. */
  errors?: readonly BodyFault[];
}

const OWN_CODES: Record<number, Pick<ErrorMessage, 'code' | 'message'>> = {
  [FAILED]: { code: 'command_failed', message: 'The command failed' },
  [USAGE]: { code: 'invalid_usage', message: 'The command was called wrongly' },
  [NOT_SIGNED_IN]: { code: 'not_signed_in', message: 'Nobody is signed in' },
  [INTERRUPTED]: { code: 'interrupted', message: 'The command was interrupted' },
};

/** How a failure is reported: the exit status, the line for people, and the ErrorMessage for programs. */
export function tell(error: unknown): { exitCode: number; line: string; json: ErrorMessage } {
  if (error instanceof LombardError) {
    const { code, details, status, errors } = error;
    const signIn = status === 401 || code === 'invalid_grant';
    const said = error.message.slice(0, -details.length - 2);
    // An error of GraphQL has the code and the details only.
    const message = said === '' || said === code ? (MESSAGES[code as ErrorCode] ?? code) : said;
    return {
      exitCode: signIn ? NOT_SIGNED_IN : FAILED,
      line: [
        `${code}: ${printable(details)}${signIn ? '; lombard login signs in again' : ''}`,
        ...faultLines(errors),
      ].join('\n'),
      json: { code, message, details, ...(errors.length > 0 ? { errors } : {}) },
    };
  }
  if (error instanceof Problem) {
    const { code, details } = error;
    return {
      exitCode: FAILED,
      line: `${code}: ${printable(details)}`,
      json: { code, message: MESSAGES[code], details },
    };
  }
  const exitCode = error instanceof CommandFailure ? error.exitCode : FAILED;
  const details = messageOf(error);
  if (error instanceof CommandFailure && error.refusal) return { exitCode, line: details, json: error.refusal };
  return { exitCode, line: details, json: { ...(OWN_CODES[exitCode] ?? OWN_CODES[FAILED]!), details } };
}

/** The ErrorMessage in the body of an answer; undefined if it has none. */
export function errorMessage(body: unknown): ErrorMessage | undefined {
  const { code, message, details, errors } = fieldsOf(body);
  if (typeof code !== 'string' || typeof details !== 'string') return undefined;
  const listed = listOf(errors) as BodyFault[];
  return { code, message: String(message ?? code), details, ...(listed.length > 0 ? { errors: listed } : {}) };
}

/** A line for each fault, if there are several. */
function faultLines(errors: readonly BodyFault[]): string[] {
  return errors.length > 1 ? errors.map(({ code, details }) => `  ${code}: ${printable(details)}`) : [];
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborted by the first SIGINT or SIGTERM, and when the output is closed. The second signal ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) process.once(name, () => controller.abort());
  return AbortSignal.any([controller.signal, outputClosed]);
}

/** Like `interruption`, for a command that has something to clean up. It receives the second signal itself, and only a third one ends the process. */
export function interruptions(): { first: AbortSignal; second: AbortSignal } {
  const second = new AbortController();
  const first = interruption();
  first.addEventListener('abort', () => {
    for (const name of SIGNALS) process.once(name, () => second.abort());
  });
  return { first, second: second.signal };
}

/** The innermost reason why a call got no answer. */
export function whyUnanswered(error: unknown): string {
  const { cause = error } = fieldsOf(error);
  const code = codeOf(cause);
  return code === 'ECONNREFUSED' ? 'nothing listens there; is the service running?' : messageOf(cause) || String(code);
}

/** Whether the service may answer again later. If a token could not be refreshed, the cause says so. */
export function isOutage(error: unknown): boolean {
  const { status, cause } = fieldsOf(error);
  if (status === 401 && cause instanceof LombardError) return isOutage(cause);
  return typeof status !== 'number' || status >= 500 || status === 429;
}

/** Like fetch. @throws CommandFailure if nothing answers */
export async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new CommandFailure(`cannot reach ${new URL(url).origin}: ${whyUnanswered(error)}`);
  }
}

/** The fields of an answer; none if it is not JSON. */
export async function answered(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  return fieldsOf(await answer.json().catch(() => undefined));
}

/** An address from an option, without trailing slashes. @throws CommandFailure */
export function httpAddress(option: string, text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new CommandFailure(`${option}: "${text}" must be an http or https address`, USAGE);
  return text.replace(/(?<!\/)\/+$/, '');
}

import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { parse } from '../../sdk/src/index.ts';
import { readConfig } from '../settings/config.ts';
import { late } from '../values/late.ts';
import { CommandFailure, errorMessage, httpAddress, whyUnanswered } from './failure.ts';
import { operatorAddress, operatorTokenFile } from './running.ts';

const undici = late((require) => require('undici') as typeof import('undici'));

const CONNECT_TIMEOUT_MS = 5_000;

export interface OperatorOptions {
  url?: string;
  token?: string;
}

/** No answer came, or none that says what was done: a lost connection, or a service that is stopping. */
export class Unanswered extends CommandFailure {}

/** Adds the options of a command that calls the operator interface. */
export function withOperator(command: Command): Command {
  return command
    .option('--url <address>', 'operator interface; default: that of the service running on the data directory')
    .option(
      '--token <token>',
      'operator token; default: LOMBARD_OPERATOR_TOKEN, or the file operator-token in the data directory',
    );
}

/** The address of the operator interface, and the token for it. @throws CommandFailure */
function operatorAccess(options: OperatorOptions): { base: string; token: string } {
  const config = readConfig();
  const base = httpAddress('--url', options.url ?? operatorAddress(config));
  const token = options.token ?? config.operatorToken ?? operatorTokenFile(config);
  if (!token) {
    throw new CommandFailure(
      `no operator token: give --token, set LOMBARD_OPERATOR_TOKEN, or LOMBARD_DATA_DIR to the service's data directory (now ${config.dataDir})`,
    );
  }
  return { base, token };
}

/** A call of the operator interface. */
interface OperatorCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, including the query. */
  path: string;
  /** An object is sent as JSON, a stream unchanged. */
  body?: object | Readable | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The answer of the operator interface. Numbers in its JSON keep their digits for `stringify`; the body is undefined if there is none. */
interface OperatorAnswer {
  base: string;
  status: number;
  body: unknown;
}

/** Calls the operator interface, which may refuse. @throws CommandFailure; if it is Unanswered, the call may have been carried out */
export async function askOperator(options: OperatorOptions, call: OperatorCall): Promise<OperatorAnswer> {
  const { base, token } = operatorAccess(options);
  const { method, path, body, signal } = call;
  const json = body !== undefined && !(body instanceof Readable);
  // An import answers only at its end, which may take long. The caller shows its progress.
  const { Agent, request } = undici();
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    pipelining: 0,
  });
  try {
    const response = await request(base + path, {
      method,
      dispatcher,
      ...(signal && { signal }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(json && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(body !== undefined && { body: body instanceof Readable ? body : JSON.stringify(body) }),
    });
    return { base, status: response.statusCode, body: parsed(await response.body.text()) };
  } catch (error) {
    throw new Unanswered(`cannot reach the operator interface at ${base}: ${whyUnanswered(error)}`);
  } finally {
    await dispatcher.close().catch(() => {});
  }
}

/**
 * Like `askOperator`, but a refusal is a failure.
 * @returns the answer's JSON
 * @throws CommandFailure
 */
export async function callOperator(options: OperatorOptions, call: OperatorCall): Promise<unknown> {
  const answer = await askOperator(options, call);
  if (answer.status < 300) return answer.body;
  throw refusalOf(answer);
}

/** The failure for an answer that is a refusal. */
export function refusalOf({ base, status, body }: OperatorAnswer): CommandFailure {
  const refusal = errorMessage(body);
  const Failure = status < 500 ? CommandFailure : Unanswered;
  return new Failure(`${base} answered ${status}${refusal ? ` ${refusal.code}: ${refusal.details}` : ''}`, 1, refusal);
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { Agent, request } from 'undici';
import { parse } from '../../sdk/src/index.ts';
import { readConfig } from '../settings/config.ts';
import { CommandFailure } from './failure.ts';
import { operatorAddress, operatorTokenFile } from './running.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface OperatorOptions {
  url?: string;
  token?: string;
}

/** No answer came, or one that says nothing about what was done: a lost connection, a service that ends. */
export class Unanswered extends CommandFailure {}

/** The options of a command that calls the operator interface. */
export function withOperator(command: Command): Command {
  return command
    .option('--url <address>', 'operator interface; default: that of the service running on the data directory')
    .option(
      '--token <token>',
      'operator token; default: LOMBARD_OPERATOR_TOKEN, or the file operator-token in the data directory',
    );
}

/**
 * Where the operator interface is, and the token to call it with.
 * @throws CommandFailure
 */
export function operatorAccess(options: OperatorOptions): { base: string; token: string } {
  const config = readConfig();
  const base = options.url ?? operatorAddress(config);
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new CommandFailure(`--url: "${base}" must be an http or https address`, 2);
  const token = options.token ?? config.operatorToken ?? operatorTokenFile(config);
  if (!token) {
    throw new CommandFailure(
      `no operator token: give --token, set LOMBARD_OPERATOR_TOKEN, or LOMBARD_DATA_DIR to the service's data directory (now ${config.dataDir})`,
    );
  }
  return { base: base.replace(/(?<!\/)\/+$/, ''), token };
}

/**
 * Calls the operator interface.
 * @param call path with query; an object is sent as JSON, a stream as it is
 * @returns the answer's JSON, whose numbers keep their digits for `stringify`, or undefined if it has no body
 * @throws CommandFailure, of which Unanswered says that it may have been done
 */
export async function callOperator(
  options: OperatorOptions,
  call: {
    method: 'GET' | 'POST' | 'DELETE';
    path: string;
    body?: object | Readable;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  },
): Promise<unknown> {
  const { base, token } = operatorAccess(options);
  const stream = call.body !== undefined && typeof (call.body as Readable).pipe === 'function';
  // An import answers at its end, which may take long; the caller shows its progress.
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    pipelining: 0,
  });
  try {
    const response = await request(base + call.path, {
      method: call.method,
      dispatcher,
      ...(call.signal ? { signal: call.signal } : {}),
      headers: {
        authorization: `Bearer ${token}`,
        ...(call.body && !stream ? { 'content-type': 'application/json' } : {}),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: stream ? (call.body as Readable) : JSON.stringify(call.body) }),
    });
    const text = await response.body.text();
    const answer = parsed(text);
    if (response.statusCode < 300) return answer;
    const { code, details } = (answer ?? {}) as { code?: string; details?: string };
    const Failure = response.statusCode < 500 ? CommandFailure : Unanswered;
    throw new Failure(`${base} answered ${response.statusCode}${code ? ` ${code}: ${details}` : ''}`);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const { code, message } = error as { code?: string; message: string };
    throw new Unanswered(
      `cannot reach the operator interface at ${base}: ${code === 'ECONNREFUSED' ? 'nothing listens there; is the service running?' : message || code}`,
    );
  } finally {
    await dispatcher.close().catch(() => {});
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

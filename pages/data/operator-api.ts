import { type Answer, type CallOptions, call, pathText } from './call.ts';
import type { Operations } from './generated/operator.ts';

/** Where the operator interface is served to the console, with the cookie in place of a token. */
const OPERATOR_API = '/console/api';

type Given<K extends keyof Operations> = Omit<Operations[K], 'response'> & Pick<CallOptions, 'signal' | 'headers'>;

/** Calls an operation of the operator interface as the person who is signed in to the console. @throws CallError */
export function callOperator<K extends keyof Operations>(
  operation: K,
  given: Given<K>,
): Promise<Answer<Operations[K]['response']>> {
  const { path, query, body, signal, headers } = given as Given<K> & { path?: object } & CallOptions;
  const [method = '', template = ''] = operation.split(' ');
  return call(method, OPERATOR_API + pathText(template, path), {
    query,
    body,
    signal,
    ...(headers ? { headers } : {}),
  });
}

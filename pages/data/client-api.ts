import type { Operations } from '../../sdk/src/generated/api.ts';
import { type Answer, type CallOptions, call, callFile, type FileAnswer, pathText } from './call.ts';

/** Where the client API is served to pages, with the cookie in place of a token. */
const CLIENT_API = '/app/api';

/** What an operation takes: `path`, `query` and `body`, if it has them. */
type Given<K extends keyof Operations> = Omit<Operations[K], 'response'> & Pick<CallOptions, 'signal' | 'headers'>;

/**
 * Calls an operation of the client API for a client: `callClient('GET /payments', 'CLI000001', { query: { status: 'pending' } })`.
 * @throws CallError
 */
export function callClient<K extends keyof Operations>(
  operation: K,
  clientId: string,
  given: Given<K>,
): Promise<Answer<Operations[K]['response']>> {
  const { path, query, body, signal, headers } = given as Given<K> & { path?: object } & CallOptions;
  const [method = '', template = ''] = operation.split(' ');
  return call(method, CLIENT_API + pathText(template, path), {
    query: { client_id: clientId, ...query },
    body,
    signal,
    ...(headers ? { headers } : {}),
  });
}

/** The time limit for sending a file. */
const UPLOAD_TIMEOUT_MS = 120_000;

/** Like `callClient`, with a file in place of the body. The blob's type is the content type. @throws CallError */
export function sendClientFile<K extends keyof Operations & `POST ${string}`>(
  operation: K,
  clientId: string,
  { file, query, headers }: Pick<Given<K>, 'headers'> & { file: Blob; query?: object },
): Promise<Answer<Operations[K]['response']>> {
  return call('POST', CLIENT_API + operation.slice('POST '.length), {
    query: { client_id: clientId, ...query },
    ...{ file, timeoutMs: UPLOAD_TIMEOUT_MS, ...(headers && { headers }) },
  });
}

/** Like `callClient`, for an operation that answers a file. While the file is being made, the answer is JSON. @throws CallError */
export function callClientFile<K extends keyof Operations & `GET ${string}`>(
  operation: K,
  clientId: string,
  given: Given<K>,
): Promise<FileAnswer> {
  const { path, query, signal } = given as Given<K> & { path?: object } & CallOptions;
  return callFile(CLIENT_API + pathText(operation.slice('GET '.length), path), {
    query: { client_id: clientId, ...query },
    headers: { accept: '*/*' },
    signal,
  });
}

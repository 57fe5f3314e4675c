import { parse, stringify } from '../../sdk/src/decimal.ts';
import { CallError } from './call-error.ts';

/** What a call says besides its method and address. */
export interface CallOptions {
  query?: object | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whoever is signed in: the call does not depend on whom the page shows. */
  isForAnybody?: boolean;
}

export interface Answer<Body> {
  body: Body;
  /** `x-total-count` of a list. */
  total: number | undefined;
  headers: Headers;
}

/** The `person` of the session that the page was drawn for: the service refuses what the page asks after somebody else has signed in. */
let shownPerson: string | undefined;

/** Says whom the page shows. @returns false where it has shown somebody else before */
export function showPerson(person: string): boolean {
  shownPerson ??= person;
  return shownPerson === person;
}

/** No call waits longer for its answer. */
const TIMEOUT_MS = 20_000;

/**
 * A call of the service that the page came from, with its cookie. Decimals of the answer keep all their digits: read them with `decimal`.
 * @param path with a leading slash, without a query
 * @throws CallError refused, or no answer; DOMException `AbortError`
 */
export async function call<Body>(method: string, path: string, options: CallOptions = {}): Promise<Answer<Body>> {
  const { query, body, headers = {}, signal, isForAnybody = false } = options;
  const response = await fetch(path + queryText(query), {
    method,
    headers: {
      accept: 'application/json',
      ...(shownPerson === undefined || isForAnybody ? {} : { 'x-lombard-person': shownPerson }),
      ...(method === 'GET' ? {} : { 'x-lombard-page': '1' }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: stringify(body) }),
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
  }).catch((cause: unknown) => {
    if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw cause;
    throw new CallError(0, { code: 'connection_lost' });
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const parsed = isJson && text !== '' ? parse(text) : undefined;
  if (!response.ok) throw new CallError(response.status, parsed ?? {}, response.headers);
  const total = response.headers.get('x-total-count');
  return { body: parsed as Body, total: total === null ? undefined : Number(total), headers: response.headers };
}

/** A query as the service reads it: lists repeat their name, and what is undefined or empty is left out. */
export function queryText(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined && item !== null && item !== '') parameters.append(name, String(item));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Puts the values of `{name}` into a path of a description. */
export function pathText(template: string, path: object = {}): string {
  const values = path as Record<string, string>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

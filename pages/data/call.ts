import { parse, stringify } from '../../sdk/src/decimal.ts';
import { CallError, type ErrorBody } from './call-error.ts';

/** What a call says besides its method and address. */
export interface CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** The body as it is, in place of `body`: its type is that of the content. */
  file?: Blob | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whoever is signed in: the call does not depend on whom the page shows. */
  isForAnybody?: boolean;
  /** It may take so long, with its body. */
  timeoutMs?: number;
  /** Reads a refusal that is not JSON. */
  refusal?: (text: string) => ErrorBody;
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

/** No call waits longer for its answer, unless it says so. */
const TIMEOUT_MS = 20_000;

/** Is aborted when the session is over. */
const session = new AbortController();

/** Ends all calls, and those to come: what the person of the session has asked for is not for whoever uses the browser next. */
export function endCalls(): void {
  session.abort();
}

/**
 * A call of the service that the page came from, with its cookie. Decimals of the answer keep all their digits: read them with `decimal`.
 * @param path with a leading slash, without a query
 * @throws CallError refused, or no answer; DOMException `AbortError`
 */
export async function call<Body>(method: string, path: string, options: CallOptions = {}): Promise<Answer<Body>> {
  const { headers, read } = await answerTo(method, path, options);
  const body = await read((response) => bodyOf(response));
  const total = headers.get('x-total-count');
  return { body: body as Body, total: total === null ? undefined : Number(total), headers };
}

/** As `call`, where a message is answered by a message: its text, of a refusal too. */
export async function callText(path: string, options: CallOptions): Promise<string> {
  const { read } = await answerTo('POST', path, { ...options, refusal: (text) => ({ details: text }) });
  return read((response) => response.text());
}

/** A file, and the name that the service gives it. */
export interface FileAnswer {
  name: string;
  content: Blob;
}

/** As `call`, for a file. The browser holds it, and puts a large one on its disk; the page never has it as a text. */
export async function callFile(path: string, options: CallOptions): Promise<FileAnswer> {
  const { headers, read } = await answerTo('GET', path, options);
  const name = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'file';
  return { name, content: await read((response) => response.blob()) };
}

interface Opened {
  headers: Headers;
  /** Reads the body. @throws CallError where it breaks off */
  read: <Body>(reader: (response: Response) => Promise<Body>) => Promise<Body>;
}

/** The answer to a call that was not refused. @throws as `call` */
async function answerTo(method: string, path: string, options: CallOptions): Promise<Opened> {
  const { query, body, file, headers = {}, signal, isForAnybody = false, timeoutMs = TIMEOUT_MS } = options;
  const lost = (cause: unknown) => {
    if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw cause;
    throw new CallError(0, { code: 'connection_lost' });
  };
  const response = await fetch(path + queryText(query), {
    method,
    headers: {
      accept: 'application/json',
      ...(shownPerson === undefined || isForAnybody ? {} : { 'x-lombard-person': shownPerson }),
      ...(method === 'GET' ? {} : { 'x-lombard-page': '1' }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(file === undefined ? {} : { 'content-type': file.type }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: stringify(body) }),
    ...(file === undefined ? {} : { body: file }),
    signal: AbortSignal.any([session.signal, AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  }).catch(lost);
  const read: Opened['read'] = (reader) => reader(response).catch(lost);
  if (!response.ok) {
    const refused = await read((answer) => bodyOf(answer, options.refusal));
    throw new CallError(response.status, refused ?? {}, response.headers);
  }
  return { headers: response.headers, read };
}

/** JSON, where the answer has any. @param reader of another text */
async function bodyOf(response: Response, reader?: CallOptions['refusal']): Promise<object | undefined> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  if (text === '') return undefined;
  return isJson ? (parse(text) as object) : reader?.(text);
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

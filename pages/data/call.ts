import { parse, stringify } from '../../sdk/src/decimal.ts';
import { CallError, type ErrorBody } from './call-error.ts';

/** Options of a call besides its method and address. */
export interface CallOptions {
  query?: object | undefined;
  body?: unknown;
  /** Sent as the body unchanged, in place of `body`. The blob's type is the content type. */
  file?: Blob | undefined;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** The call is valid for any signed-in person, not only for the one that the page shows. */
  isForAnybody?: boolean;
  /** The time limit for the whole call, including its body. */
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

/** The `person` of the session that the page was drawn for. If somebody else has signed in since, the service refuses the page's calls. */
let shownPerson: string | undefined;

/** Records whom the page shows. @returns false if it has shown somebody else before */
export function showPerson(person: string): boolean {
  shownPerson ??= person;
  return shownPerson === person;
}

/** The default time limit of a call. */
const TIMEOUT_MS = 20_000;

/** Aborted when the session is over. */
const session = new AbortController();

/** Ends all current and future calls: the next user of the browser must not see the answers. */
export function endCalls(): void {
  session.abort();
}

/**
 * Calls the service that served the page, with its cookie. Decimals in the answer keep all their digits: read them with `decimal`.
 * @param path with a leading slash, without a query
 * @throws CallError if refused or unanswered; DOMException `AbortError`
 */
export async function call<Body>(method: string, path: string, options: CallOptions = {}): Promise<Answer<Body>> {
  const { headers, read } = await answerTo(method, path, options);
  const body = await read((response) => bodyOf(response));
  const total = headers.get('x-total-count');
  return { body: body as Body, total: total === null ? undefined : Number(total), headers };
}

/** Like `call`, for an ISO 20022 message that is answered by a message. @returns its text, even for a refusal */
export async function callText(path: string, options: CallOptions): Promise<string> {
  const { read } = await answerTo('POST', path, { ...options, refusal: (text) => ({ details: text }) });
  return read((response) => response.text());
}

/** A file, with the name that the service gave it. */
export interface FileAnswer {
  name: string;
  content: Blob;
}

/** Like `call`, for a file. The browser holds the file, and puts a large one on disk; it never becomes a JavaScript string. */
export async function callFile(path: string, options: CallOptions): Promise<FileAnswer> {
  const { headers, read } = await answerTo('GET', path, options);
  const name = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'file';
  return { name, content: await read((response) => response.blob()) };
}

interface Opened {
  headers: Headers;
  /** Reads the body. @throws CallError if it is cut off */
  read: <Body>(reader: (response: Response) => Promise<Body>) => Promise<Body>;
}

/** The answer to a call that was not refused. @throws like `call` */
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

/** The JSON of an answer, if there is any. @param reader for text that is not JSON */
async function bodyOf(response: Response, reader?: CallOptions['refusal']): Promise<object | undefined> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  if (text === '') return undefined;
  return isJson ? (parse(text) as object) : reader?.(text);
}

/** A query string as the service reads it. Lists repeat their name; undefined and empty values are left out. */
export function queryText(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const item of Array.isArray(value) ? value : [value])
      if (item !== undefined && item !== null && item !== '') parameters.append(name, String(item));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Fills the `{name}` parts of a path. */
export function pathText(template: string, path: object = {}): string {
  const values = path as Record<string, string>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

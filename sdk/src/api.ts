import { parse, stringify } from './decimal.ts';
import { type BodyFault, LombardError } from './error.ts';
import { type Exchange, type Incoming, textOf } from './exchange.ts';
import type { Operations } from './generated/api.ts';
import { reasonOf } from './pain-002.ts';
import type { Tokens } from './tokens.ts';

export interface CallOptions {
  /** Aborts this call only, not the work that it shares with other calls. */
  signal?: AbortSignal | undefined;
  /**
   * For POST requests: requests with the same key, query and body within 24 hours are executed once. So a call whose answer was lost can be
   * sent again. 1 to 255 characters from `!` to `~`.
   */
  idempotencyKey?: string | undefined;
}

/** Options of an order. */
export interface OrderOptions extends CallOptions {
  /** Makes all checks, but saves nothing. The answer is the one that success would give. */
  validateOnly?: boolean | undefined;
}

/** `METHOD /path`, as in the API description: `GET /payments/{payment_id}`. */
export type OperationName = keyof Operations;
/** What an operation takes: `path`, `query` and `body`, if it has them. */
export type InputOf<K extends OperationName> = Omit<Operations[K], 'response'>;
export type ResponseOf<K extends OperationName> = Operations[K]['response'];
/** The argument of a call. It may be omitted if nothing in it is required. */
export type Arguments<K extends OperationName> =
  object extends InputOf<K> ? [input?: InputOf<K> & OrderOptions] : [input: InputOf<K> & OrderOptions];

/** A successful answer. */
export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** The POST operations that order something. Each gets a key, generated here if none is given, so that it can be retried safely. */
const ORDERS: ReadonlySet<string> = new Set<OperationName>([
  'POST /beneficiaries',
  'POST /payments',
  'POST /payments/challenges',
  'POST /multipayments',
  'POST /mass-payments',
  'POST /mass-beneficiaries',
  'POST /mass-payments/{mass_payment_id}/confirm',
  'POST /mass-payments/{mass_payment_id}/challenges',
  'POST /payment-initiations',
  'POST /quotes',
  'POST /trades',
  'POST /trades/{trade_id}/drawdowns',
  'POST /accounts/{account_id}/statements/file',
]);
/** The POST operations that change nothing and take no key. */
const READING_POSTS: ReadonlySet<string> = new Set<OperationName>(['POST /beneficiaries/search']);
const KEY_BYTES = 16;

interface Input extends OrderOptions {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** A file in place of a JSON body. */
  file?: FileBody | undefined;
}

interface FileBody {
  type: string;
  content: string | Uint8Array<ArrayBuffer>;
}

/** A file in the form that is sent. @param type its content type */
export async function fileOf(file: Blob | Uint8Array | string, type: string): Promise<FileBody> {
  if (typeof file === 'string') return { type, content: file };
  return { type, content: new Uint8Array(file instanceof Uint8Array ? file : await file.arrayBuffer()) };
}

/** Calls operations of the client API, for one client, with its tokens. */
export class Api {
  readonly #baseUrl: URL;
  readonly #clientId: string;
  readonly #exchange: Exchange;
  readonly #tokens: Tokens;

  constructor(baseUrl: URL, clientId: string, exchange: Exchange, tokens: Tokens) {
    this.#baseUrl = baseUrl;
    this.#clientId = clientId;
    this.#exchange = exchange;
    this.#tokens = tokens;
  }

  /**
   * @param reads true if this call changes nothing; known without it for a GET, an order and a reading POST
   * @throws LombardError, AbortError
   */
  async call<K extends OperationName>(
    operation: K,
    input: InputOf<K> & OrderOptions,
    reads?: boolean,
  ): Promise<Answer<ResponseOf<K>>> {
    const incoming = await this.#send(operation, input, reads);
    return { status: incoming.status, headers: incoming.headers, body: content(incoming) as ResponseOf<K> };
  }

  /** Like `call`, with a file in place of a JSON body. */
  async upload<K extends OperationName>(
    operation: K,
    input: Omit<InputOf<K>, 'body'> & OrderOptions & Required<Pick<Input, 'file'>>,
  ): Promise<ResponseOf<K>> {
    return content(await this.#send(operation, input)) as ResponseOf<K>;
  }

  /** Like `call`, for an operation that answers a file: its bytes, or the JSON sent in its place. */
  async file<K extends OperationName>(
    operation: K,
    input: InputOf<K> & CallOptions,
  ): Promise<{ status: number; bytes: Uint8Array }> {
    return this.#send(operation, input);
  }

  async #send(operation: OperationName, input: Input, reads?: boolean): Promise<Incoming> {
    const { path = {}, query = {}, body, file, signal, validateOnly } = input;
    const { idempotencyKey = ORDERS.has(operation) ? newKey() : undefined } = input;
    const [method = '', template = ''] = operation.split(' ', 2);
    const url = this.#url(template, path, { ...query, ...(validateOnly ? { validate_only: true } : {}) });
    const headers: Record<string, string> = { accept: 'application/json' };
    if (file) headers['content-type'] = file.type;
    else if (body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const isRepeatable = method === 'GET' || READING_POSTS.has(operation);
    const request = {
      method,
      url,
      body: file?.content ?? (body === undefined ? undefined : stringify(body)),
      reads: reads ?? (isRepeatable || (method === 'POST' && idempotencyKey !== undefined)),
      signal,
    };
    const send = (token: string | undefined) =>
      this.#exchange.send({
        ...request,
        headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
      });

    const token = await this.#tokens.current(signal);
    let incoming = await send(token);
    if (incoming.status === 401 && (await this.#renewed(token, incoming, signal)))
      incoming = await send(await this.#tokens.current(signal));
    if (incoming.status < 200 || incoming.status > 299) throw refusal(incoming);
    return incoming;
  }

  /** @throws LombardError the 401, caused by the failed refresh; AbortError */
  async #renewed(token: string | undefined, incoming: Incoming, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      return await this.#tokens.renew(token, signal);
    } catch (cause) {
      if (cause instanceof LombardError) throw refusal(incoming, cause);
      throw cause;
    }
  }

  #url(template: string, path: Record<string, unknown>, query: Record<string, unknown>): URL {
    const url = new URL(this.#baseUrl);
    const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, path[name]));
    url.pathname = url.pathname.replace(/\/$/, '') + filled;
    url.searchParams.set('client_id', this.#clientId);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    return url;
  }
}

/** @throws TypeError for a value that would change the path */
function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
    throw new TypeError(`${name}: must be the text of an identifier`);
  return encodeURIComponent(value);
}

/** A random key that works in every browser: `randomUUID` does not exist on pages without HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function content(incoming: Incoming): unknown {
  const text = textOf(incoming);
  if (text === '') return undefined;
  if (!/json/.test(incoming.headers.get('content-type') ?? '')) return text;
  try {
    return parse(text);
  } catch (cause) {
    throw new LombardError({
      ...envelope(incoming),
      code: 'invalid_response',
      details: 'the answer is not JSON',
      cause,
    });
  }
}

/** The error of an answer: the service's ErrorMessage, or what a server in between answered instead. */
function refusal(incoming: Incoming, cause?: unknown): LombardError {
  const base = { ...envelope(incoming), cause };
  if (/xml/.test(incoming.headers.get('content-type') ?? '')) {
    const details = textOf(incoming);
    return new LombardError({ ...base, ...reasonOf(details), details });
  }
  let body: { code?: unknown; message?: unknown; details?: unknown; errors?: unknown } | null = null;
  try {
    body = JSON.parse(textOf(incoming));
  } catch {
    // The answer is not from the service: a gateway answers in HTML.
  }
  if (typeof body?.code === 'string') {
    const [message, details] = [body.message, body.details].map((text) => (typeof text === 'string' ? text : ''));
    const errors = Array.isArray(body.errors) ? (body.errors as BodyFault[]) : [];
    return new LombardError({ ...base, code: body.code, message, details: details ?? '', errors });
  }
  const [error] = (body?.errors ?? []) as GraphqlError[];
  if (error) return graphqlRefusal(incoming, error);
  const details = `status ${incoming.status} without an error body of the service`;
  return new LombardError({ ...base, code: 'invalid_response', details });
}

/** An entry in the `errors` of a GraphQL answer. */
export interface GraphqlError {
  message: string;
  path?: (string | number)[];
  extensions?: { code?: string };
}

/** @param answer has status 200 if the document was executed and one of its fields failed */
export function graphqlRefusal(answer: Pick<Incoming, 'status' | 'headers'>, error: GraphqlError): LombardError {
  const code = error.extensions?.code ?? 'graphql_error';
  return new LombardError({ ...envelope(answer), code, details: error.message });
}

function envelope({ status, headers }: Pick<Incoming, 'status' | 'headers'>) {
  return { status, requestId: headers.get('x-request-id') ?? undefined };
}

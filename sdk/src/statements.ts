import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';

/** The body of a request, in the API's format. */
export type StatementRequest = InputOf<'POST /statements/accounts'>['body'];

/** The status of a request. */
export type StatementProgress = ResponseOf<'GET /statements/requests/{id}'>;

/** Statements of the client's currency accounts. */
export class Statements {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Requests a statement, which is made and sent in the background. Returns the service's confirmation, a sentence. */
  async request(body: StatementRequest, options: CallOptions = {}): Promise<string> {
    return (await this.#api.call('POST /statements/accounts', { ...options, body })).body;
  }

  /** Like `request`, but returns the id of the request, for `get`. */
  async submit(body: StatementRequest, options: CallOptions = {}): Promise<string> {
    const { headers } = await this.#api.call('POST /statements/accounts', { ...options, body });
    return new URL(headers.get('location') ?? '').pathname.split('/').at(-1) ?? '';
  }

  /** The status of a request: `queued`, `running`, `sent` or `failed`. */
  async get(id: string, { signal }: CallOptions = {}): Promise<StatementProgress> {
    return (await this.#api.call('GET /statements/requests/{id}', { path: { id }, signal })).body;
  }
}

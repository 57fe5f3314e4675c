import type { Api, CallOptions, InputOf } from './api.ts';

/** The body of a request as on the wire. */
export type StatementRequest = InputOf<'POST /statements/accounts'>['body'];

/** Statements of the client's currency accounts. */
export class Statements {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Asks for a statement, which is made and sent in the background. Gives the service's confirmation, a sentence. */
  async request(body: StatementRequest, { signal }: CallOptions = {}): Promise<string> {
    return (await this.#api.call('POST /statements/accounts', { body, signal })).body;
  }
}

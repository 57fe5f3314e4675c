import type { Api, CallOptions, InputOf } from './api.ts';

/** `pi`: payment instruction, `pr`: payment receipt, `tr`: trade receipt. */
export type DocumentType = InputOf<'GET /documents'>['query']['type'];

/** PDFs of payments and trades. */
export class Documents {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * @param id the id of the payment; for `tr`, of the trade
   * @returns the bytes of a PDF
   */
  async get(type: DocumentType, id: string, { signal }: CallOptions = {}): Promise<Uint8Array> {
    const { body } = await this.#api.call('GET /documents', { query: { type, id }, signal });
    return Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
  }
}

import { type Api, type CallOptions, fileOf } from './api.ts';
import { LombardError } from './error.ts';
import { isRejected, reasonOf } from './pain-002.ts';

/** ISO 20022 files. */
export class PaymentInitiations {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Sends a pain.001.
   * @param xml in UTF-8
   * @returns the pain.002 as text: `ACTC`, or `PART` if some blocks are refused
   * @throws LombardError if the whole file is refused: `code` is an ISO 20022 code (`DU01`), and `details` the pain.002
   */
  async create(xml: Blob | Uint8Array | string, options: CallOptions = {}): Promise<string> {
    const file = await fileOf(xml, 'application/xml');
    const answer = await this.#api.upload('POST /payment-initiations', { ...options, file });
    if (isRejected(answer)) throw new LombardError({ status: 202, ...reasonOf(answer), details: answer });
    return answer;
  }

  /** The current pain.002 of a message, as text. @param messageId its MsgId */
  async status(messageId: string, { signal }: CallOptions = {}): Promise<string> {
    const path = { message_id: messageId };
    return (await this.#api.call('GET /payment-initiations/{message_id}/status', { path, signal })).body;
  }
}

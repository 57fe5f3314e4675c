import { type Api, type CallOptions, fileOf, type InputOf, type OrderOptions, type ResponseOf } from './api.ts';
import { List } from './list.ts';
import { waitForStatus } from './waiting.ts';

/** A file of payments, in the API's format. */
export type NewMassPayment = InputOf<'POST /mass-payments'>['body'];
/** The parameters of a CSV file besides its rows, in the API's format, without `client_id`. */
export type MassPaymentFileQuery = NonNullable<InputOf<'POST /mass-payments'>['query']>;
export type TakenMassPayment = ResponseOf<'POST /mass-payments'>;
export type MassPayment = ResponseOf<'GET /mass-payments/{mass_payment_id}'>;
export type MassPaymentStatus = MassPayment['mass_payment_status'];
export type MassPaymentQuery = NonNullable<InputOf<'GET /mass-payments'>['query']>;
export type MassPaymentConfirmation = InputOf<'POST /mass-payments/{mass_payment_id}/confirm'>['body'];
/** A row as it was sent, with what became of it. */
export type ReceivedInstruction = ResponseOf<'GET /mass-payments/{mass_payment_id}/payments-received'>[number];
/** A row that cannot be processed, as it was sent, with its errors. */
export type InvalidInstruction = ResponseOf<'GET /mass-payments/{mass_payment_id}/errors'>[number];
type Rows = NonNullable<InputOf<'GET /mass-payments/{mass_payment_id}/errors'>['query']>;

const FINAL: readonly MassPaymentStatus[] = ['Created', 'Cancelled', 'Failed'];

/** Files of many payments. */
export class MassPayments {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Sends a file as JSON. @throws LombardError */
  async create(body: NewMassPayment, options: OrderOptions = {}): Promise<TakenMassPayment> {
    return (await this.#api.call('POST /mass-payments', { ...options, body })).body;
  }

  /** Sends a file as CSV. @throws LombardError */
  async createFromFile(
    file: Blob | Uint8Array | string,
    query: MassPaymentFileQuery,
    options: OrderOptions = {},
  ): Promise<TakenMassPayment> {
    return this.#api.upload('POST /mass-payments', { ...options, query, file: await fileOf(file, 'text/csv') });
  }

  /** Lists files lazily, newest first. */
  list(query: MassPaymentQuery = {}, options: CallOptions = {}): List<MassPayment> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-payments', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  /** The progress of a file. */
  async get(id: string, { signal }: CallOptions = {}): Promise<MassPayment> {
    const path = { mass_payment_id: id };
    return (await this.#api.call('GET /mass-payments/{mass_payment_id}', { path, signal })).body;
  }

  /** Confirms a file, so that its valid rows are executed. @throws LombardError */
  async confirm(id: string, body: MassPaymentConfirmation = {}, options: OrderOptions = {}): Promise<TakenMassPayment> {
    const path = { mass_payment_id: id };
    return (await this.#api.call('POST /mass-payments/{mass_payment_id}/confirm', { ...options, path, body })).body;
  }

  /** Withdraws a file before its payments are made. */
  async cancel(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#api.call('DELETE /mass-payments/{mass_payment_id}', { path: { mass_payment_id: id }, signal });
  }

  /** The rows of a file, in their order. */
  received(id: string, query: Rows = {}, options: CallOptions = {}): List<ReceivedInstruction> {
    const path = { mass_payment_id: id };
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-payments/{mass_payment_id}/payments-received', {
        ...{ path, query: { ...query, ...paging }, signal },
      });
    return new List(read, query, options);
  }

  /** The rows of a file that cannot be processed. */
  errors(id: string, query: Rows = {}, options: CallOptions = {}): List<InvalidInstruction> {
    const path = { mass_payment_id: id };
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-payments/{mass_payment_id}/errors', { path, query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  /**
   * Waits until a file has a status. It keeps trying while the service is temporarily unavailable.
   * @throws LombardError `status_unreachable` if the file has ended with another status
   */
  waitUntil(id: string, status: MassPaymentStatus, { signal }: CallOptions = {}): Promise<MassPayment> {
    return waitForStatus({
      ...{ name: 'mass payment', wanted: status, final: FINAL, signal },
      read: () => this.get(id, { signal }),
      statusOf: (found) => found.mass_payment_status,
      reasonOf: ({ error }) => error?.details,
    });
  }
}

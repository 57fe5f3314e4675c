import { type Api, type CallOptions, fileOf, type InputOf, type OrderOptions, type ResponseOf } from './api.ts';
import { List } from './list.ts';
import { waitForStatus } from './waiting.ts';

/** A list of beneficiaries, in the API's format. */
export type NewMassBeneficiary = InputOf<'POST /mass-beneficiaries'>['body'];
type Answered = ResponseOf<'POST /mass-beneficiaries'>;
export type TakenMassBeneficiary = Extract<Answered, { status: unknown }>;
/** The expected result of each row, with `validateOnly`. */
export type TriedMassBeneficiary = Extract<Answered, { errors: unknown }>;
/** The type of the answer, which depends on the options. */
type AnswerTo<O> = O extends { validateOnly: true }
  ? TriedMassBeneficiary
  : O extends { validateOnly?: false | undefined }
    ? TakenMassBeneficiary
    : Answered;
export type MassBeneficiary = ResponseOf<'GET /mass-beneficiaries/{mass_beneficiary_id}'>;
export type MassBeneficiaryStatus = MassBeneficiary['status'];
export type MassBeneficiaryError = ResponseOf<'GET /mass-beneficiaries/{mass_beneficiary_id}/errors'>[number];
/** A beneficiary that was created, and its place in the request. */
export type MassBeneficiaryMade = ResponseOf<'GET /mass-beneficiaries/{mass_beneficiary_id}/beneficiaries'>[number];
type Page = NonNullable<InputOf<'GET /mass-beneficiaries/{mass_beneficiary_id}/errors'>['query']>;

const FINAL: readonly MassBeneficiaryStatus[] = ['created', 'failed'];

/** The client's mass-beneficiary instructions. */
export class MassBeneficiaries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Sends many beneficiaries. With `validateOnly`, the answer says what would become of them. @throws LombardError */
  async create<O extends OrderOptions = object>(body: NewMassBeneficiary, options?: O): Promise<AnswerTo<O>> {
    return (await this.#api.call('POST /mass-beneficiaries', { ...options, body })).body as AnswerTo<O>;
  }

  /** Like `create`, for a CSV file. @throws LombardError */
  async createFromFile<O extends OrderOptions = object>(
    file: Blob | Uint8Array | string,
    options?: O,
  ): Promise<AnswerTo<O>> {
    const sent = { ...options, file: await fileOf(file, 'text/csv') };
    return (await this.#api.upload('POST /mass-beneficiaries', sent)) as AnswerTo<O>;
  }

  /** The progress of an instruction. */
  async get(id: string, { signal }: CallOptions = {}): Promise<MassBeneficiary> {
    const path = { mass_beneficiary_id: id };
    return (await this.#api.call('GET /mass-beneficiaries/{mass_beneficiary_id}', { path, signal })).body;
  }

  /** The beneficiaries of an instruction that could not be created; complete once its status is `created`. */
  errors(id: string, query: Page = {}, options: CallOptions = {}): List<MassBeneficiaryError> {
    const path = { mass_beneficiary_id: id };
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-beneficiaries/{mass_beneficiary_id}/errors', {
        ...{ path, query: { ...query, ...paging }, signal },
      });
    return new List(read, query, options);
  }

  /** The beneficiaries that an instruction has created. */
  beneficiaries(id: string, query: Page = {}, options: CallOptions = {}): List<MassBeneficiaryMade> {
    const path = { mass_beneficiary_id: id };
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-beneficiaries/{mass_beneficiary_id}/beneficiaries', {
        ...{ path, query: { ...query, ...paging }, signal },
      });
    return new List(read, query, options);
  }

  /**
   * Waits until an instruction has a status. It keeps trying while the service is temporarily unavailable.
   * @throws LombardError `status_unreachable` if it has ended with another status
   */
  waitUntil(id: string, status: MassBeneficiaryStatus, { signal }: CallOptions = {}): Promise<MassBeneficiary> {
    return waitForStatus({
      ...{ name: 'mass beneficiary', wanted: status, final: FINAL, signal },
      read: () => this.get(id, { signal }),
      statusOf: (found) => found.status,
    });
  }
}

import type { Api, CallOptions, InputOf, OrderOptions, ResponseOf } from './api.ts';
import { List } from './list.ts';

/** Whom the client pays, with the one bank account that it is paid at. */
export type Beneficiary = ResponseOf<'GET /beneficiaries/{beneficiary_id}'>;
/** The body of a creation as on the wire. */
export type NewBeneficiary = InputOf<'POST /beneficiaries'>['body'];
/** The fields that are to change; null clears an optional one. */
export type BeneficiaryPatch = InputOf<'PATCH /beneficiaries/{beneficiary_id}'>['body'];
/** The filters of the list as on the wire, without `client_id`. */
export type BeneficiaryQuery = NonNullable<InputOf<'GET /beneficiaries'>['query']>;

/** The client's beneficiaries. */
export class Beneficiaries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Lists the active ones lazily. The filters stand in the address: `search` keeps names and accounts out of it. */
  list(query: BeneficiaryQuery = {}, options: CallOptions = {}): List<Beneficiary> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /beneficiaries', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  /** As `list`, with the filters in the body. */
  search(query: BeneficiaryQuery = {}, options: CallOptions = {}): List<Beneficiary> {
    const { page: _page, page_size: _size, ...body } = query;
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('POST /beneficiaries/search', { query: paging, body, signal });
    return new List(read, query, options);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Beneficiary> {
    return (await this.#api.call('GET /beneficiaries/{beneficiary_id}', { path: { beneficiary_id: id }, signal })).body;
  }

  /** Makes a beneficiary. @throws LombardError, whose `errors` name every fault of the body */
  async create(body: NewBeneficiary, options: OrderOptions = {}): Promise<ResponseOf<'POST /beneficiaries'>> {
    return (await this.#api.call('POST /beneficiaries', { ...options, body })).body;
  }

  /** Changes a beneficiary. Gives nothing; with `validateOnly` the record as it would be. */
  async update(
    id: string,
    patch: BeneficiaryPatch,
    options: OrderOptions = {},
  ): Promise<ResponseOf<'PATCH /beneficiaries/{beneficiary_id}'>> {
    const input = { ...options, path: { beneficiary_id: id }, body: patch };
    return (await this.#api.call('PATCH /beneficiaries/{beneficiary_id}', input)).body;
  }

  /** Takes a beneficiary away from the list; nothing can be paid to it any more. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#api.call('DELETE /beneficiaries/{beneficiary_id}', { path: { beneficiary_id: id }, signal });
  }
}

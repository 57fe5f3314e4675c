import type { Api, CallOptions, InputOf, OrderOptions, ResponseOf } from './api.ts';
import { List } from './list.ts';

/** A payee of the client, with its single bank account. */
export type Beneficiary = ResponseOf<'GET /beneficiaries/{beneficiary_id}'>;
/** The body of a creation, in the API's format. */
export type NewBeneficiary = InputOf<'POST /beneficiaries'>['body'];
/** The fields to change; null clears an optional one. */
export type BeneficiaryPatch = InputOf<'PATCH /beneficiaries/{beneficiary_id}'>['body'];
/** The filters of the list, in the API's format, without `client_id`. */
export type BeneficiaryQuery = NonNullable<InputOf<'GET /beneficiaries'>['query']>;

/** The client's beneficiaries. */
export class Beneficiaries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Lists the active ones lazily. The filters are sent in the address: `search` keeps names and accounts out of it. */
  list(query: BeneficiaryQuery = {}, options: CallOptions = {}): List<Beneficiary> {
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /beneficiaries', { query: { ...query, ...paging }, signal });
    return new List(read, query, options);
  }

  /** Like `list`, with the filters in the body. */
  search(query: BeneficiaryQuery = {}, options: CallOptions = {}): List<Beneficiary> {
    const { page: _page, page_size: _size, ...body } = query;
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('POST /beneficiaries/search', { query: paging, body, signal });
    return new List(read, query, options);
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Beneficiary> {
    return (await this.#api.call('GET /beneficiaries/{beneficiary_id}', { path: { beneficiary_id: id }, signal })).body;
  }

  /** Creates a beneficiary. @throws LombardError, whose `errors` list every fault of the body */
  async create(body: NewBeneficiary, options: OrderOptions = {}): Promise<ResponseOf<'POST /beneficiaries'>> {
    return (await this.#api.call('POST /beneficiaries', { ...options, body })).body;
  }

  /** Changes a beneficiary. Returns nothing, or with `validateOnly` the record as it would be. */
  async update(
    id: string,
    patch: BeneficiaryPatch,
    options: OrderOptions = {},
  ): Promise<ResponseOf<'PATCH /beneficiaries/{beneficiary_id}'>> {
    const input = { ...options, path: { beneficiary_id: id }, body: patch };
    return (await this.#api.call('PATCH /beneficiaries/{beneficiary_id}', input)).body;
  }

  /** Removes a beneficiary from the list. It can no longer be paid. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#api.call('DELETE /beneficiaries/{beneficiary_id}', { path: { beneficiary_id: id }, signal });
  }
}

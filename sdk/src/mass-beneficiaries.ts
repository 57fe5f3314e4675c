import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';
import { List } from './list.ts';

type Operation = 'GET /mass-beneficiaries/{mass_beneficiary_id}/errors';
export type MassBeneficiaryError = ResponseOf<Operation>[number];

/** The client's mass-beneficiary instructions. */
export class MassBeneficiaries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The beneficiaries of an instruction that could not be created; complete once its status is `created`. */
  errors(id: string, query: InputOf<Operation>['query'] = {}, options: CallOptions = {}): List<MassBeneficiaryError> {
    const path = { mass_beneficiary_id: id };
    const read = (paging: object, { signal }: CallOptions) =>
      this.#api.call('GET /mass-beneficiaries/{mass_beneficiary_id}/errors', {
        path,
        query: { ...query, ...paging },
        signal,
      });
    return new List(read, query, options);
  }
}

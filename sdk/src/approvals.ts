import type { Api, CallOptions, InputOf, ResponseOf } from './api.ts';
import { List } from './list.ts';

export type ApprovalsSettings = ResponseOf<'GET /approvals-workflow/settings'>;
export type ApprovalsConfiguration = ResponseOf<'GET /approvals-workflow/config'>;
/** A whole configuration to send. */
export type NewApprovalsConfiguration = InputOf<'POST /approvals-workflow/config'>['body'];
/** What a configuration would require for sample amounts. */
export type ApprovalsRehearsal = Extract<ResponseOf<'POST /approvals-workflow/config'>, { dry_run: true }>;
export type ApprovalsVersion = ResponseOf<'GET /approvals-workflow/config/versions'>[number];

/** The client's approvals workflow. */
export class Approvals {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  async settings({ signal }: CallOptions = {}): Promise<ApprovalsSettings> {
    return (await this.#api.call('GET /approvals-workflow/settings', { signal })).body;
  }

  /** @param options `version` selects an earlier one; without it, the configuration in force is returned */
  async configuration({ version, signal }: CallOptions & { version?: number } = {}): Promise<ApprovalsConfiguration> {
    const query = version === undefined ? {} : { version };
    return (await this.#api.call('GET /approvals-workflow/config', { query, signal })).body;
  }

  /** Replaces the whole configuration, and returns the new one. */
  async replace(config: NewApprovalsConfiguration, options: CallOptions = {}): Promise<ApprovalsConfiguration> {
    return (await this.#api.call('POST /approvals-workflow/config', { ...options, body: config })).body;
  }

  /** Checks a configuration, and says who would have to approve its `sample_amounts`. Changes nothing. */
  async rehearse(config: NewApprovalsConfiguration, { signal }: CallOptions = {}): Promise<ApprovalsRehearsal> {
    const input = { body: config, query: { dry_run: true }, signal };
    return (await this.#api.call('POST /approvals-workflow/config', input, true)).body as ApprovalsRehearsal;
  }

  /** All configurations so far, newest first. */
  versions(options: CallOptions = {}): List<ApprovalsVersion> {
    const read = (query: object, { signal }: CallOptions) =>
      this.#api.call('GET /approvals-workflow/config/versions', { query, signal });
    return new List(read, {}, options);
  }
}

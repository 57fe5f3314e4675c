import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type {
  ApprovalConfiguration,
  ApprovalConfigurationVersion,
  ApprovalDryRun,
  WrittenApprovalConfiguration,
} from '../../sdk/src/generated/api.ts';
import type { ApprovalScene } from '../../src/approvals/approvers.ts';
import { call } from './call.ts';
import { callClient } from './client-api.ts';

export type { ApprovalConfiguration, ApprovalConfigurationVersion, ApprovalDryRun };
export type Person = ApprovalScene['people'][number];

export const settingsKey = (clientId: string) => ['approval-settings', clientId];

/** The settings, the people, and the configuration in force with its version. */
export const settingsQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...settingsKey(clientId), 'now'],
    // A form is open: a refetched version would replace what was typed.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    queryFn: async ({ signal }) => {
      const [scene, configuration] = await Promise.all([
        call<ApprovalScene>('GET', '/app/data/approval-scene', { query: { client_id: clientId }, signal }),
        callClient('GET /approvals-workflow/config', clientId, { signal }),
      ]);
      return { scene: scene.body, configuration: configuration.body, version: versionOf(configuration) };
    },
  });

/** The number of the version in force: somebody else may have saved one since the form was filled. */
export const latestVersionQuery = (clientId: string) =>
  queryOptions({
    queryKey: [...settingsKey(clientId), 'latest'],
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }) => versionOf(await callClient('GET /approvals-workflow/config', clientId, { signal })),
  });

function versionOf({ headers }: { headers: Headers }): number {
  return Number(headers.get('x-configuration-version') ?? 0);
}

/** Who would have to approve, under the configuration in the form. */
export const dryRunQuery = (clientId: string, body: WrittenApprovalConfiguration) =>
  queryOptions({
    queryKey: ['approval-dry-run', clientId, body],
    placeholderData: keepPreviousData,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      const query = { dry_run: true };
      const answer = await callClient('POST /approvals-workflow/config', clientId, { query, body, signal });
      return answer.body as ApprovalDryRun;
    },
  });

/** @throws CallError */
export async function saveConfiguration(clientId: string, body: WrittenApprovalConfiguration): Promise<void> {
  await callClient('POST /approvals-workflow/config', clientId, { body });
}

/** A page of the versions, newest first. */
export const versionsQuery = (clientId: string, page: number, size: number) =>
  queryOptions({
    queryKey: [...settingsKey(clientId), 'versions', page, size],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page, page_size: size };
      const { body, total = 0 } = await callClient('GET /approvals-workflow/config/versions', clientId, {
        query,
        signal,
      });
      return { rows: body, total };
    },
  });

/** A version and the one before it. */
export const versionQuery = (clientId: string, version: number) =>
  queryOptions({
    queryKey: ['approval-version', clientId, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const read = async (wanted: number): Promise<ApprovalConfiguration> =>
        (await callClient('GET /approvals-workflow/config', clientId, { query: { version: wanted }, signal })).body;
      return { after: await read(version), before: version > 1 ? await read(version - 1) : undefined };
    },
  });

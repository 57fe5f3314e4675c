import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { context, loadOne, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { openSecret } from '../../webhooks/secret.ts';
import type { ExtraHeader } from '../../webhooks/subscription-rules.ts';
import { type GraphqlRequest, needsManage } from './request.ts';

interface SubscriptionFieldsRow {
  id: string;
  secret: Buffer | null;
  extraHeaders: ExtraHeader[];
}

/**
 * Reads what the client's role cannot. The service opens secrets for contacts who may see them. It also reads extra headers, because the
 * payload of a deletion still contains them.
 */
async function readRows(request: GraphqlRequest, ids: readonly string[]): Promise<Map<string, SubscriptionFieldsRow>> {
  const { rows } = await request.pool.query<SubscriptionFieldsRow>(
    `select id, secret, to_json(extra_headers) as "extraHeaders" from subscriptions where client_id = $1 and id = any($2::uuid[])`,
    [request.clientId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Null, with an error, for contacts who may not manage webhooks. */
async function readSecrets(request: GraphqlRequest, ids: readonly string[]): Promise<string[]> {
  needsManage(request, 'secret');
  const found = await readRows(request, ids);
  return ids.map((id) => openSecret(request.settings.vault, found.get(id)?.secret ?? null));
}

/** The values contain receivers' keys, so contacts who may not manage webhooks get empty texts. */
async function readExtraHeaders(request: GraphqlRequest, ids: readonly string[]): Promise<ExtraHeader[][]> {
  const found = await readRows(request, ids);
  const shown = ({ name, value }: ExtraHeader) => ({ name, value: request.mayManage ? value : '' });
  return ids.map((id) => (found.get(id)?.extraHeaders ?? []).map(shown));
}

function load(
  $row: PgSelectSingleStep,
  read: (request: GraphqlRequest, ids: readonly string[]) => Promise<unknown[]>,
): Step {
  const $id: Step<string> = $row.get('id');
  return loadOne($id, {
    shared: () => context(),
    load: (ids: readonly string[], { shared }) => read(shared.request, ids),
  });
}

/** The secret and the extra headers of a subscription. The service reads these fields itself. */
export const subscriptionFields = extendSchema({
  typeDefs: gql`
    extend type Subscription {
      """The key that notifications are signed with, the empty string where none is set; null without can_manage_webhooks."""
      secret: String
      """Headers that are added to every notification; their values are empty texts without can_manage_webhooks."""
      extraHeaders: [ExtraHeader]!
    }
  `,
  objects: {
    Subscription: {
      plans: {
        secret: ($row: PgSelectSingleStep) => load($row, readSecrets),
        extraHeaders: ($row: PgSelectSingleStep) => load($row, readExtraHeaders),
      },
    },
  },
});

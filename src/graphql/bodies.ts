import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { context, loadOne, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { openSecret } from '../webhooks/subscription.ts';
import { limitError } from './limits.ts';
import { type GraphqlRequest, needsManage } from './request.ts';

/** Which row a body belongs to: its id, and the moment that leads to its partition. */
type Key = readonly [id: string, createdAt: string, attemptNumber?: number, deliveryId?: string];

const NOTIFICATION_BODIES = `
  select k.n, e.body, sum(octet_length(e.body)) over () as bytes
  from unnest($1::uuid[], $2::timestamptz[]) with ordinality as k(id, created_at, n)
  join webhooks.notifications n on n.id = k.id and n.created_at = k.created_at
  join delivery.events e on e.client_id = n.client_id and e.created_at = n.created_at and e.id = n.event_id`;

const ATTEMPT_BODIES = `
  select k.n, a.body, sum(octet_length(a.body)) over () as bytes
  from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::uuid[]) with ordinality as k(id, created_at, number, delivery_id, n)
  join webhooks.attempts a on a.notification_id = k.id and a.created_at = k.created_at and a.attempt_number = k.number and a.delivery_id = k.delivery_id`;

/**
 * Reads bodies apart from their rows: the database counts their bytes before it sends any, so that an answer cannot take more
 * memory than RESPONSE_BODY_BYTES, however many bodies were asked for.
 */
async function readBodies(
  request: GraphqlRequest,
  statement: string,
  keys: readonly Key[],
): Promise<(string | null)[]> {
  const columns = [0, 1, 2, 3]
    .map((index) => keys.map((key) => key[index]))
    .slice(0, statement === ATTEMPT_BODIES ? 4 : 2);
  const { rows } = await request.withPgClient(null, (client) =>
    client.query<{ n: number; body: string | null; bytes: number }>({
      text: `select n, case when bytes <= $${columns.length + 1} then body end as body, bytes::int8 as bytes from (${statement}) as found`,
      values: [...columns, request.bodyBytes],
    }),
  );
  const bytes = rows[0]?.bytes ?? 0;
  if (bytes > request.bodyBytes)
    throw limitError('RESPONSE_BODY_BYTES', `The bodies of the answer have more bytes`, 'ask for smaller pages');
  request.bodyBytes -= bytes;
  const bodies: (string | null)[] = new Array(keys.length).fill(null);
  for (const row of rows) bodies[row.n - 1] = row.body;
  return bodies;
}

function load($row: PgSelectSingleStep, columns: string[], statement: string): Step {
  return loadOne(
    columns.map((column) => $row.get(column)) as never,
    {
      shared: () => context(),
      load: (keys: readonly unknown[], { shared }: { shared: unknown }) =>
        readBodies(shared as GraphqlRequest, statement, keys as readonly Key[]),
    } as never,
  );
}

/** A secret is not a column that the role of a client can read: the service opens it, for those who may see it. */
async function readSecrets(request: GraphqlRequest, ids: readonly string[]): Promise<string[]> {
  needsManage(request, 'secret');
  const { rows } = await request.pool.query<{ id: string; secret: Buffer | null }>(
    'select id, secret from webhooks.subscriptions where client_id = $1 and id = any($2::uuid[])',
    [request.clientId, ids],
  );
  const sealed = new Map(rows.map((row) => [row.id, row.secret]));
  return ids.map((id) => openSecret(request.vault, sealed.get(id) ?? null));
}

/** Fields whose values are read apart from their rows. */
export const bodies = extendSchema({
  typeDefs: gql`
    extend type Subscription {
      """The key that notifications are signed with, the empty string where none is set. Reading it needs can_manage_webhooks."""
      secret: String
    }
    extend type Notification {
      """What is sent, byte for byte."""
      body: String
    }
    extend type Attempt {
      """What the receiver answered: the first 64 KiB."""
      body: String
    }
  `,
  objects: {
    Subscription: {
      plans: {
        secret: ($row: PgSelectSingleStep) =>
          loadOne(
            $row.get('id') as Step,
            {
              shared: () => context(),
              load: (ids: readonly unknown[], { shared }: { shared: unknown }) =>
                readSecrets(shared as GraphqlRequest, ids as readonly string[]),
            } as never,
          ),
      },
    },
    Notification: {
      plans: { body: ($row: PgSelectSingleStep) => load($row, ['id', 'created_at'], NOTIFICATION_BODIES) },
    },
    Attempt: {
      plans: {
        body: ($row: PgSelectSingleStep) =>
          load($row, ['notification_id', 'created_at', 'attempt_number', 'delivery_id'], ATTEMPT_BODIES),
      },
    },
  },
});

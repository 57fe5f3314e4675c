import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { context, loadOne, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { openSecret } from '../webhooks/subscription.ts';
import { limitError } from './limits.ts';
import { type GraphqlRequest, needsManage } from './request.ts';

/** What finds a body: texts of the columns below. */
type Key = readonly (string | number)[];

/** Rows of a kind whose bodies are read, and by which columns of theirs. One look-up for each, whatever the planner thinks of the list. */
interface Kind {
  columns: readonly string[];
  statement: string;
}

const NOTIFICATION: Kind = {
  columns: ['created_at', 'event_id'],
  statement: `
    select k.n, found.body, sum(octet_length(found.body)) over () as bytes
    from unnest($1::timestamptz[], $2::bigint[]) with ordinality as k(created_at, id, n)
    cross join lateral (select e.body from delivery.events e where e.created_at = k.created_at and e.id = k.id limit 1) as found`,
};

const ATTEMPT: Kind = {
  columns: ['created_at', 'notification_id', 'attempt_number', 'delivery_id'],
  statement: `
    select k.n, found.body, sum(octet_length(found.body)) over () as bytes
    from unnest($1::timestamptz[], $2::uuid[], $3::int[], $4::uuid[]) with ordinality as k(created_at, id, number, delivery_id, n)
    cross join lateral (select a.body from webhooks.attempts a where a.created_at = k.created_at and a.notification_id = k.id
      and a.attempt_number = k.number and a.delivery_id = k.delivery_id limit 1) as found`,
};

/**
 * Reads bodies apart from their rows: the database counts their bytes before it sends any, so that an answer cannot take more
 * memory than RESPONSE_BODY_BYTES, however many bodies were asked for.
 */
async function readBodies(request: GraphqlRequest, kind: Kind, keys: readonly Key[]): Promise<(string | null)[]> {
  const columns = kind.columns.map((_, index) => keys.map((key) => key[index]));
  const { rows } = await request.withPgClient(null, (client) =>
    client.query<{ n: number; body: string | null; bytes: number }>({
      text: `select n, case when bytes <= $${columns.length + 1} then body end as body, bytes::int8 as bytes from (${kind.statement}) as counted`,
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

function load($row: PgSelectSingleStep, kind: Kind): Step {
  return loadOne(
    kind.columns.map((column) => $row.get(column)) as never,
    {
      shared: () => context(),
      load: (keys: readonly unknown[], { shared }: { shared: unknown }) =>
        readBodies(shared as GraphqlRequest, kind, keys as readonly Key[]),
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
      plans: { body: ($row: PgSelectSingleStep) => load($row, NOTIFICATION) },
    },
    Attempt: {
      plans: {
        body: ($row: PgSelectSingleStep) => load($row, ATTEMPT),
      },
    },
  },
});

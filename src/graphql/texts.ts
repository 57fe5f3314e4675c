import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { context, loadOne, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { openSecret } from '../webhooks/secret.ts';
import type { ExtraHeader } from '../webhooks/subscription-rules.ts';
import { limitError, type TextLimit } from './limits.ts';
import { type GraphqlRequest, needsManage } from './request.ts';

/** What finds a text: texts of the columns below. */
type Key = readonly (string | number)[];

/** Texts of a kind, which limit counts them, and the columns that find one. One look-up for each, whatever the planner thinks of the list. */
interface Kind {
  /** The field, by which `copies` of the request knows it. */
  field: string;
  limit: TextLimit;
  columns: readonly string[];
  /** Gives `n`, `value` (text), and its `bytes` as JSON, in which it is answered. */
  statement: string;
}

const NOTIFICATION_BODY: Kind = {
  field: 'Notification.body',
  limit: 'RESPONSE_BODY_BYTES',
  // Each notification for itself: one event's body may be answered for many of them.
  columns: ['created_at', 'event_id', 'id'],
  statement: `
    select k.n, found.body as value, octet_length(to_json(found.body)::text) as bytes
    from unnest($1::timestamptz[], $2::bigint[], $3::uuid[]) with ordinality as k(created_at, id, notification_id, n)
    cross join lateral (select e.body from delivery.events e where e.created_at = k.created_at and e.id = k.id limit 1) as found`,
};

const attempt = (value: string, bytes: string) => `
    select k.n, ${value} as value, ${bytes} as bytes
    from unnest($1::timestamptz[], $2::uuid[], $3::int[], $4::uuid[]) with ordinality as k(created_at, id, number, delivery_id, n)
    cross join lateral (select a.body, a.headers::text as headers from webhooks.attempts a where a.created_at = k.created_at
      and a.notification_id = k.id and a.attempt_number = k.number and a.delivery_id = k.delivery_id limit 1) as found`;
const ATTEMPT_COLUMNS = ['created_at', 'notification_id', 'attempt_number', 'delivery_id'];

const ATTEMPT_BODY: Kind = {
  field: 'Attempt.body',
  limit: 'RESPONSE_BODY_BYTES',
  columns: ATTEMPT_COLUMNS,
  statement: attempt('found.body', 'octet_length(to_json(found.body)::text)'),
};

const ATTEMPT_HEADERS: Kind = {
  field: 'Attempt.headers',
  limit: 'RESPONSE_HEADER_BYTES',
  columns: ATTEMPT_COLUMNS,
  statement: attempt('found.headers', 'octet_length(found.headers)'),
};

/**
 * Reads texts apart from their rows. The database counts their bytes before it sends any, each as often as the operation names its field, so
 * that an answer cannot take more than the limit, however many texts were asked for; and they are not quoted anew for each list around them.
 */
async function readTexts(request: GraphqlRequest, kind: Kind, keys: readonly Key[]): Promise<(string | null)[]> {
  const columns = kind.columns.map((_, index) => keys.map((key) => key[index]));
  const copies = request.copies.get(kind.field) ?? 1;
  const left = Math.floor(request.textBytes[kind.limit] / copies);
  const { rows } = await request.withPgClient(null, (client) =>
    client.query<{ n: number; value: string | null; total: number }>({
      text: `select n, case when total <= $${columns.length + 1} then value end as value, total::int8 as total
        from (select *, sum(bytes) over () as total from (${kind.statement}) as counted) as summed`,
      values: [...columns, left],
    }),
  );
  const total = rows[0]?.total ?? 0;
  if (total > left) throw limitError(kind.limit, SAID[kind.limit], 'ask for smaller pages');
  request.textBytes[kind.limit] -= total * copies;
  const texts: (string | null)[] = new Array(keys.length).fill(null);
  for (const row of rows) texts[row.n - 1] = row.value;
  return texts;
}

const SAID: Record<TextLimit, string> = {
  RESPONSE_BODY_BYTES: 'The bodies of the answer have more bytes',
  RESPONSE_HEADER_BYTES: 'The headers of the answer have more bytes',
};

/** The texts of a page of rows, one statement after the other: each sees what those before it have left. */
function load($row: PgSelectSingleStep, kind: Kind, read: (text: string | null) => unknown = (text) => text): Step {
  return loadOne(
    kind.columns.map((column) => $row.get(column)) as never,
    {
      shared: () => context(),
      async load(keys: readonly unknown[], { shared }: { shared: unknown }) {
        const request = shared as GraphqlRequest;
        const texts = request.reading.then(() => readTexts(request, kind, keys as readonly Key[]));
        request.reading = texts.catch(() => undefined);
        return (await texts).map(read);
      },
    } as never,
  );
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/**
 * A secret is not a column that the role of a client can read: the service opens it, for those who may see it. It reads extra headers too, which
 * the payload of a deletion still has.
 */
async function readOwn(request: GraphqlRequest, ids: readonly string[]): Promise<Map<string, OwnRow>> {
  const { rows } = await request.pool.query<OwnRow>(
    `select id, secret, to_json(extra_headers) as "extraHeaders" from webhooks.subscriptions where client_id = $1 and id = any($2::uuid[])`,
    [request.clientId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
interface OwnRow {
  id: string;
  secret: Buffer | null;
  extraHeaders: ExtraHeader[];
}

async function readSecrets(request: GraphqlRequest, ids: readonly string[]): Promise<string[]> {
  needsManage(request, 'secret');
  const found = await readOwn(request, ids);
  return ids.map((id) => openSecret(request.settings.vault, found.get(id)?.secret ?? null));
}

async function readExtraHeaders(request: GraphqlRequest, ids: readonly string[]): Promise<ExtraHeader[][]> {
  const found = await readOwn(request, ids);
  return ids.map((id) => found.get(id)?.extraHeaders ?? []);
}

function loadOwn(
  $row: PgSelectSingleStep,
  read: (request: GraphqlRequest, ids: readonly string[]) => Promise<unknown[]>,
): Step {
  return loadOne(
    $row.get('id') as Step,
    {
      shared: () => context(),
      load: (ids: readonly unknown[], { shared }: { shared: unknown }) =>
        read(shared as GraphqlRequest, ids as readonly string[]),
    } as never,
  );
}

/** Fields whose values are read apart from their rows. */
export const texts = extendSchema({
  typeDefs: gql`
    extend type Subscription {
      """The key that notifications are signed with, the empty string where none is set. Reading it needs can_manage_webhooks."""
      secret: String
      """Headers that are added to every notification."""
      extraHeaders: [ExtraHeader]!
    }
    extend type Notification {
      """What is sent, byte for byte."""
      body: String
    }
    extend type Attempt {
      """The headers that the receiver answered."""
      headers: JSON
      """What the receiver answered: the first 64 KiB."""
      body: String
    }
  `,
  objects: {
    Subscription: {
      plans: {
        secret: ($row: PgSelectSingleStep) => loadOwn($row, readSecrets),
        extraHeaders: ($row: PgSelectSingleStep) => loadOwn($row, readExtraHeaders),
      },
    },
    Notification: {
      plans: { body: ($row: PgSelectSingleStep) => load($row, NOTIFICATION_BODY) },
    },
    Attempt: {
      plans: {
        body: ($row: PgSelectSingleStep) => load($row, ATTEMPT_BODY),
        headers: ($row: PgSelectSingleStep) => load($row, ATTEMPT_HEADERS, parsed),
      },
    },
  },
});

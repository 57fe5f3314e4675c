import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import { context, list, loadOne, type Step } from 'postgraphile/grafast';
import { extendSchema, gql } from 'postgraphile/utils';
import { limitError, type TextLimit } from './limits.ts';
import type { GraphqlRequest } from './request.ts';

/** The values of a text's `columns`, by which it is found. */
type Key = readonly (string | number)[];

/** A field with long texts: the limit that counts them, and the statement that reads them with one look-up each. */
interface TextField {
  /** Its name in `copies` of the request. */
  name: string;
  limit: TextLimit;
  columns: readonly string[];
  /** Returns `n`, `value` (text), and the `bytes` that the value takes in the answer's JSON. */
  statement: string;
}

const NOTIFICATION_BODY: TextField = {
  name: 'Notification.body',
  limit: 'RESPONSE_BODY_BYTES',
  // Includes the notification's id, because the body of one event may be answered for many notifications.
  columns: ['created_at', 'event_id', 'id'],
  statement: `
    select k.n, found.body as value, octet_length(to_json(found.body)::text) as bytes
    from unnest($1::timestamptz[], $2::bigint[], $3::uuid[]) with ordinality as k(created_at, id, notification_id, n)
    cross join lateral (select e.body from webhook_events e where e.created_at = k.created_at and e.id = k.id limit 1) as found`,
};

const attempt = (value: string, bytes: string) => `
    select k.n, ${value} as value, ${bytes} as bytes
    from unnest($1::timestamptz[], $2::uuid[], $3::int[], $4::uuid[]) with ordinality as k(created_at, id, number, delivery_id, n)
    cross join lateral (select a.body, a.headers::text as headers from attempts a where a.created_at = k.created_at
      and a.notification_id = k.id and a.attempt_number = k.number and a.delivery_id = k.delivery_id limit 1) as found`;
const ATTEMPT_COLUMNS = ['created_at', 'notification_id', 'attempt_number', 'delivery_id'];

const ATTEMPT_BODY: TextField = {
  name: 'Attempt.body',
  limit: 'RESPONSE_BODY_BYTES',
  columns: ATTEMPT_COLUMNS,
  statement: attempt('found.body', 'octet_length(to_json(found.body)::text)'),
};

const ATTEMPT_HEADERS: TextField = {
  name: 'Attempt.headers',
  limit: 'RESPONSE_HEADER_BYTES',
  columns: ATTEMPT_COLUMNS,
  statement: attempt('found.headers', 'octet_length(found.headers)'),
};

/**
 * Reads texts separately from their rows. The database counts their bytes before it sends any, each as often as the operation names its
 * field. So an answer cannot exceed the limit, however many texts it asks for. Also, lists around the texts do not quote them again.
 */
async function readTexts(request: GraphqlRequest, field: TextField, keys: readonly Key[]): Promise<(string | null)[]> {
  const columns = field.columns.map((_, index) => keys.map((key) => key[index]));
  const copies = request.copies.get(field.name) ?? 1;
  const left = Math.floor(request.textBytes[field.limit] / copies);
  const { rows } = await request.withPgClient(null, (client) =>
    client.query<{ n: number; value: string | null; total: number }>({
      text: `select n, case when total <= $${columns.length + 1} then value end as value, total::int8 as total
        from (select *, sum(bytes) over () as total from (${field.statement}) as counted) as summed`,
      values: [...columns, left],
    }),
  );
  const total = rows[0]?.total ?? 0;
  if (total > left) throw limitError(field.limit, SAID[field.limit], 'ask for smaller pages');
  request.textBytes[field.limit] -= total * copies;
  const texts: (string | null)[] = new Array(keys.length).fill(null);
  for (const row of rows) texts[row.n - 1] = row.value;
  return texts;
}

const SAID: Record<TextLimit, string> = {
  RESPONSE_BODY_BYTES: 'The bodies of the answer have more bytes',
  RESPONSE_HEADER_BYTES: 'The headers of the answer have more bytes',
};

/**
 * Reads the texts of a page of rows. The statements of a request run one after the other, so that each knows how many bytes the earlier
 * ones have left.
 */
function load(
  $row: PgSelectSingleStep,
  field: TextField,
  read: (text: string | null) => unknown = (text) => text,
): Step {
  const $key: Step<Key> = list(field.columns.map((column) => $row.get(column)));
  return loadOne($key, {
    shared: () => context(),
    async load(keys: readonly Key[], { shared: { request } }) {
      const texts = request.reading.then(() => readTexts(request, field, keys));
      request.reading = texts.catch(() => undefined);
      return (await texts).map(read);
    },
  });
}

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

/** The long texts of notifications and attempts, as fields that are read separately from their rows. */
export const texts = extendSchema({
  typeDefs: gql`
    extend type Notification {
      """The body that is sent, byte for byte."""
      body: String
    }
    extend type Attempt {
      """The headers of the receiver's response."""
      headers: JSON
      """The body of the receiver's response: its first 64 KiB."""
      body: String
    }
  `,
  objects: {
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

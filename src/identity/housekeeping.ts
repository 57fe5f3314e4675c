import type { Pool } from '../database.ts';

/** Rows deleted in one statement: a long delete would hold locks that sign-ins wait for. */
const BATCH = 5_000;

/**
 * What is over, and how long it is kept all the same: codes so that a second use is still known as one, access tokens so that
 * the answer says `token_expired`, the rest so that a clock that is off by minutes does no harm.
 */
const OVER: [table: string, key: string, condition: string][] = [
  ['sign_in_requests', 'request_sha256', `expires_at < $1::timestamptz - interval '1 hour'`],
  ['second_factor_handles', 'handle_sha256', `expires_at < $1::timestamptz - interval '1 hour'`],
  ['authorization_codes', 'code_sha256', `expires_at < $1::timestamptz - interval '1 day'`],
  ['browser_sessions', 'session_sha256', `expires_at < $1::timestamptz - interval '1 day'`],
  ['guesses', 'id', `at < $1::timestamptz - interval '1 day'`],
  ['guess_locks', 'subject', `until < $1::timestamptz - interval '1 day'`],
  ['access_tokens', 'token_sha256', `expires_at < $1::timestamptz - interval '7 days'`],
  [
    'refresh_tokens',
    'id',
    `id in (select r.id from refresh_tokens r join applications a on a.client_id = r.application_id
      where r.issued_at + (a.refresh_token_days + 1) * interval '24 hours' < $1::timestamptz)`,
  ],
  [
    'refresh_tokens',
    'id',
    `id in (select id from (select id, row_number() over (partition by application_id, contact_id order by id desc) as place
      from refresh_tokens) ranked where place > 10)`,
  ],
  [
    'grants',
    'id',
    `created_at < $1::timestamptz - interval '1 day' and not exists (select from refresh_tokens r where r.grant_id = grants.id)
      and not exists (select from access_tokens t where t.grant_id = grants.id)`,
  ],
];

/** Deletes what can never be used again; returns how many rows. Any process may do it at any time. */
export async function deleteWhatIsOver(pool: Pool, now: Date): Promise<number> {
  let deleted = 0;
  for (const [table, key, condition] of OVER) {
    for (let batch = BATCH; batch === BATCH; ) {
      const text = `delete from ${table} where ${key} in (select ${key} from ${table} where ${condition} limit ${BATCH})`;
      batch = (await pool.query(text, condition.includes('$1') ? [now] : [])).rowCount ?? 0;
      deleted += batch;
    }
  }
  return deleted;
}

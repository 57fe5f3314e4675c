import { cellPools, inEach } from '../../database/cells/contexts.ts';
import type { Pool } from '../../database/database.ts';
import { MAX_REFRESH_TOKENS } from './issued-tokens.ts';

/** The number of rows deleted in one statement. A longer delete would hold locks that sign-ins wait for. */
const BATCH_ROWS = 5_000;

type Expired = [table: string, key: string, condition: string];

/** Deleted in each cell. */
const EXPIRED_IN_CELL: Expired = [
  'step_up_challenges',
  'challenge_sha256',
  `expires_at < $1::timestamptz - interval '1 hour'`,
];

/**
 * What expires, and how long it is kept afterwards. Codes are kept so that a second use is recognised, and access tokens so that the answer
 * is `token_expired`. Everything else is kept so that a clock that is wrong by minutes does no harm.
 */
const EXPIRED: Expired[] = [
  ['sign_in_requests', 'request_sha256', `expires_at < $1::timestamptz - interval '1 hour'`],
  ['second_factor_challenges', 'challenge_sha256', `expires_at < $1::timestamptz - interval '1 hour'`],
  ['password_requests', 'id', `at < $1::timestamptz - interval '1 day'`],
  ['password_links', 'contact_id', `expires_at < $1::timestamptz - interval '1 hour'`],
  ['mails', 'id', `ended_at < $1::timestamptz - interval '30 days'`],
  ['authorization_codes', 'code_sha256', `expires_at < $1::timestamptz - interval '1 day'`],
  ['browser_sessions', 'session_sha256', `expires_at < $1::timestamptz - interval '1 day'`],
  ['page_sessions', 'id', `expires_at < $1::timestamptz - interval '1 day'`],
  ['identity_changes', 'version', "at < clock_timestamp() - interval '1 minute'"],
  ['staff_sessions', 'id', `expires_at < $1::timestamptz - interval '1 day'`],
  ['limited_attempts', 'id', `at < $1::timestamptz - interval '1 day'`],
  ['attempt_locks', 'subject', `until < $1::timestamptz - interval '1 day'`],
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
      from refresh_tokens) ranked where place > ${MAX_REFRESH_TOKENS})`,
  ],
  [
    'grants',
    'id',
    `created_at < $1::timestamptz - interval '1 day' and not exists (select from refresh_tokens r where r.grant_id = grants.id)
      and not exists (select from access_tokens t where t.grant_id = grants.id)`,
  ],
];

/** Deletes what can never be used again. Any process may call it at any time. @returns the number of deleted rows */
export async function deleteExpired(pool: Pool, now: Date): Promise<number> {
  let deleted = 0;
  for (const expired of EXPIRED) deleted += await deleteAll(pool, expired, now);
  await inEach(await cellPools(pool), async (cell) => {
    deleted += await deleteAll(cell, EXPIRED_IN_CELL, now);
  });
  return deleted;
}

async function deleteAll(pool: Pool, [table, key, condition]: Expired, now: Date): Promise<number> {
  const text = `delete from ${table} where ${key} in (select ${key} from ${table} where ${condition} limit ${BATCH_ROWS})`;
  let deleted = 0;
  for (let batch = BATCH_ROWS; batch === BATCH_ROWS; deleted += batch)
    batch = (await pool.query(text, condition.includes('$1') ? [now] : [])).rowCount ?? 0;
  return deleted;
}

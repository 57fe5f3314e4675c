import type { Context } from '../../context.ts';
import { type Db, first } from '../../database/database.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Authorization } from '../tokens/authorization-code.ts';
import {
  type CodeMessage,
  hashVerificationCode,
  limitTexts,
  MIN_TEXT_INTERVAL_SECONDS,
  newVerificationCode,
  sendVerificationCode,
  textTooSoon,
} from './verification-code.ts';

/** The lifetime of a challenge, and the number of attempts that it allows (docs/decisions.md, 7). */
const CHALLENGE_LIFETIME_SECONDS = 300;
export const MAX_CHALLENGE_ATTEMPTS = 5;

export type SecondFactorKind = 'totp' | 'sms';

/** A sign-in that waits for its second factor. */
export interface Challenge {
  kind: SecondFactorKind;
  applicationId: string;
  contactId: string;
  redirectUri: string;
  state: string;
}

interface NewChallenge extends Omit<Authorization, 'methods' | 'authenticatedAt'> {
  kind: SecondFactorKind;
  state: string;
  /** The cookie of the browser that signs in on a page; undefined for a headless sign-in. */
  browser: string | undefined;
  message: CodeMessage;
}

/**
 * Opens the second step of a sign-in after a correct password. If the factor is SMS, it sends the first text message.
 * @returns the challenge, a random text that the token endpoint does not accept
 * @throws OAuthError temporarily_unavailable after too many text messages, server_error if the gateway failed
 */
export async function openChallenge(context: Context, input: NewChallenge): Promise<string> {
  const now = context.clock.now();
  const challenge = randomToken();
  if (input.kind === 'sms') await limitTexts(context, input.contactId, now);
  const code = input.kind === 'sms' ? newVerificationCode() : undefined;
  await context.pool.query({
    name: 'open_challenge',
    text: `insert into second_factor_challenges (challenge_sha256, browser_sha256, application_id, contact_id, kind,
        redirect_uri, state, nonce, code_challenge, sms_code_sha256, sms_sent_at, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      sha256(challenge),
      input.browser === undefined ? null : sha256(input.browser),
      input.applicationId,
      input.contactId,
      input.kind,
      input.redirectUri,
      input.state,
      input.nonce,
      input.codeChallenge,
      code === undefined ? null : hashVerificationCode(challenge, code),
      code === undefined ? null : now,
      now,
      new Date(now.getTime() + CHALLENGE_LIFETIME_SECONDS * 1_000),
    ],
  });
  if (code !== undefined) await sendVerificationCode(context, input.contactId, input.message(code));
  return challenge;
}

export interface ChallengeRow {
  kind: SecondFactorKind;
  application_id: string;
  contact_id: string;
  redirect_uri: string;
  state: string;
}

export function challengeFrom(row: ChallengeRow): Challenge {
  return {
    kind: row.kind,
    applicationId: row.application_id,
    contactId: row.contact_id,
    redirectUri: row.redirect_uri,
    state: row.state,
  };
}

/**
 * The sign-in of a challenge, for its page. A challenge of a headless sign-in belongs to the first browser that opens its page.
 * @throws OAuthError invalid_grant (`expired`)
 */
export async function findChallenge(
  context: Context,
  { challenge, clientId, browser }: { challenge: string; clientId: string; browser: string },
): Promise<Challenge> {
  const row = first(
    await context.pool.query<ChallengeRow>(
      `update second_factor_challenges set browser_sha256 = $3
       where challenge_sha256 = $1 and application_id = $2 and (browser_sha256 is null or browser_sha256 = $3)
         and used_at is null and expires_at > $4 and attempts < ${MAX_CHALLENGE_ATTEMPTS}
       returning kind, application_id, contact_id, redirect_uri, state`,
      [sha256(challenge), clientId, sha256(browser), context.clock.now()],
    ),
  );
  if (!row) throw challengeExpired();
  return challengeFrom(row);
}

/** The contact whose sign-in a challenge belongs to, even if it no longer accepts codes; undefined if it is no longer stored. */
export async function contactOfChallenge(
  db: Db,
  { challenge, clientId }: { challenge: string; clientId: string },
): Promise<string | undefined> {
  const row = first(
    await db.query<{ contact_id: string }>(
      'select contact_id from second_factor_challenges where challenge_sha256 = $1 and application_id = $2',
      [sha256(challenge), clientId],
    ),
  );
  return row?.contact_id;
}

/**
 * Sends a new code. The code before it is no longer valid.
 * @throws OAuthError temporarily_unavailable within MIN_TEXT_INTERVAL_SECONDS, invalid_grant (`expired`), invalid_request if the second
 * factor is not SMS, server_error if the gateway failed
 */
export async function resendCode(
  context: Context,
  { challenge, clientId, message }: { challenge: string; clientId: string; message: CodeMessage },
): Promise<void> {
  const { pool, clock } = context;
  const now = clock.now();
  const key = sha256(challenge);
  const code = newVerificationCode();
  const sent = first(
    await pool.query<{ contact_id: string }>(
      `update second_factor_challenges set sms_code_sha256 = $3, sms_sent_at = $4
       where challenge_sha256 = $1 and application_id = $2 and kind = 'sms' and used_at is null and expires_at > $4
         and attempts < ${MAX_CHALLENGE_ATTEMPTS}
         and (sms_sent_at is null or sms_sent_at <= $4::timestamptz - make_interval(secs => $5))
       returning contact_id`,
      [key, clientId, hashVerificationCode(challenge, code), now, MIN_TEXT_INTERVAL_SECONDS],
    ),
  );
  if (sent) return sendVerificationCode(context, sent.contact_id, message(code));
  const known = first(
    await pool.query<{ kind: SecondFactorKind; sms_sent_at: Date | null }>(
      `select kind, sms_sent_at from second_factor_challenges
       where challenge_sha256 = $1 and application_id = $2 and used_at is null and expires_at > $3
         and attempts < ${MAX_CHALLENGE_ATTEMPTS}`,
      [key, clientId, now],
    ),
  );
  if (!known) throw challengeExpired();
  if (known.kind !== 'sms')
    throw new OAuthError('invalid_request', 'the second factor of this sign-in is not a text message');
  const elapsed = Math.floor((now.getTime() - (known.sms_sent_at?.getTime() ?? 0)) / 1_000);
  throw textTooSoon(MIN_TEXT_INTERVAL_SECONDS - elapsed);
}

export function challengeExpired(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'the sign-in is unknown, has expired, is finished, or has had too many wrong codes: start again',
    { refusal: 'expired' },
  );
}

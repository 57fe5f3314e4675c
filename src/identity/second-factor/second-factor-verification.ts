import type { Context } from '../../context.ts';
import { first, transaction } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';
import { limitAttempts, SECOND_FACTOR_ATTEMPTS, secondFactorSubject } from '../attempt-limit.ts';
import { OAuthError } from '../oauth-error.ts';
import { useRecoveryCode } from './recovery-code.ts';
import {
  type Challenge,
  type ChallengeRow,
  challengeExpired,
  challengeFrom,
  MAX_CHALLENGE_ATTEMPTS,
} from './second-factor-challenge.ts';
import { totpStep, useTotpStep } from './totp.ts';
import { hashVerificationCode, readCode } from './verification-code.ts';

/** Who answers a challenge: the application itself (Basic), or the page's browser, identified by its cookie. */
export type Presenter = { applicationId: string } | { browser: string };

interface Answer {
  challenge: string;
  clientId: string;
  presenter: Presenter;
  code: string;
  redirectUri?: string | undefined;
  requestId: string;
}

interface AttemptRow extends ChallengeRow {
  sms_code_sha256: Buffer | null;
  totp_secret: Buffer | null;
  nonce: string | null;
  code_challenge: string | null;
}

/**
 * Verifies a code. The attempt is counted and committed before the code is checked, so parallel attempts never exceed what the challenge
 * allows. A second limit counts the wrong codes in all challenges of a contact.
 * @returns the challenge, which is used up
 * @throws OAuthError invalid_grant: `wrong_code`, or `expired` if the challenge accepts no more codes; temporarily_unavailable while the
 * contact is locked
 */
export async function verifyChallenge(
  context: Context,
  answer: Answer,
): Promise<Challenge & { nonce: string | null; codeChallenge: string | null }> {
  const { pool, clock } = context;
  const row = await countAttempt(context, answer);
  const { presenter, clientId } = answer;
  if (!row || ('applicationId' in presenter && presenter.applicationId !== clientId)) throw challengeExpired();
  const right = await limitAttempts(pool, clock, {
    limit: SECOND_FACTOR_ATTEMPTS,
    subject: secondFactorSubject(row.contact_id),
    attempt: () => checkCode(context, answer, row),
  });
  if (!right)
    throw new OAuthError('invalid_grant', 'verification_code: is wrong, or was used before', { refusal: 'wrong_code' });
  const used = await pool.query(
    'update second_factor_challenges set used_at = $2 where challenge_sha256 = $1 and used_at is null',
    [sha256(answer.challenge), clock.now()],
  );
  if (used.rowCount !== 1) throw challengeExpired();
  return { ...challengeFrom(row), nonce: row.nonce, codeChallenge: row.code_challenge };
}

async function countAttempt({ pool, clock }: Context, answer: Answer): Promise<AttemptRow | undefined> {
  const { presenter } = answer;
  return first(
    await pool.query<AttemptRow>({
      name: 'count_challenge_attempt',
      text: `update second_factor_challenges c set attempts = attempts + 1
        from contacts k
        where c.challenge_sha256 = $1 and c.application_id = $2 and ($3::bytea is null or c.browser_sha256 = $3)
          and ($5::text is null or c.redirect_uri = $5)
          and c.used_at is null and c.expires_at > $4 and c.attempts < ${MAX_CHALLENGE_ATTEMPTS}
          and k.contact_id = c.contact_id and k.status = 'enabled'
        returning c.kind, c.application_id, c.contact_id, c.redirect_uri, c.state, c.sms_code_sha256, c.nonce,
          c.code_challenge, k.totp_secret`,
      values: [
        sha256(answer.challenge),
        answer.clientId,
        'browser' in presenter ? sha256(presenter.browser) : null,
        clock.now(),
        answer.redirectUri ?? null,
      ],
    }),
  );
}

async function checkCode(context: Context, answer: Answer, row: AttemptRow): Promise<boolean> {
  const code = readCode(answer.code);
  if (code === undefined) return row.kind === 'totp' && useRecovery(context, answer, row);
  if (row.kind === 'sms') return row.sms_code_sha256?.equals(hashVerificationCode(answer.challenge, code)) ?? false;
  return useTotp(context, row, code);
}

function useRecovery({ pool, clock }: Context, { code, requestId }: Answer, row: AttemptRow): Promise<boolean> {
  const contactId = row.contact_id;
  const act = { now: clock.now(), actor: `contact:${contactId}`, requestId };
  return transaction(pool, (tx) => useRecoveryCode(tx, act, { contactId, typed: code }));
}

/** Checks a TOTP code and stores its step, so that neither this step nor an earlier one is accepted again. */
async function useTotp({ pool, vault, clock }: Context, row: AttemptRow, code: string): Promise<boolean> {
  if (row.totp_secret === null) return false;
  const now = clock.now();
  const step = totpStep(vault.open(row.totp_secret, 'totp_secret'), code, now);
  return step !== undefined && useTotpStep(pool, { contactId: row.contact_id, step, now });
}

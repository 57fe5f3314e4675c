import { shareLock } from '../../approvals/lock.ts';
import type { Context } from '../../context.ts';
import { isDistributed } from '../../database/cells/pool.ts';
import { type Db, first, one, type Transaction } from '../../database/database.ts';
import { limitAttempts, SECOND_FACTOR_ATTEMPTS, secondFactorSubject } from '../../identity/attempt-limit.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { isUnusedStep, totpStep, useTotpStep } from '../../identity/second-factor/totp.ts';
import { readCode } from '../../identity/second-factor/verification-code.ts';
import { sha256 } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { noPayment } from '../payment.ts';
import { type Approver, hashTextedCode, secondFactorMissing } from './challenge.ts';

/** The number of wrong codes that one challenge allows. */
const MAX_ATTEMPTS = 5;

/**
 * SQL: whether a payment `p` still is what a row `c` of a challenge was made for. The account is compared field by field, because Citus
 * does not allow an update to compare values that are composed of columns.
 */
const UNCHANGED = `p.amount = c.amount and p.payment_currency = c.payment_currency and p.status = c.status
  and (p.account_number, p.iban, p.swift_code, p.bank_identifier)
    is not distinct from (c.account ->> 0, c.account ->> 1, c.account ->> 2, c.account ->> 3)`;

/** An approval of payments. */
export interface Approval extends Approver {
  /** Whether the approval is refused as a whole if one payment does not exist or has changed. Otherwise only that payment is refused. */
  whole: boolean;
}

/** What an approver sends with an approval. */
export interface StepUpAnswer {
  challengeId: string | undefined;
  code: string | undefined;
}

/** A correct code that has not been used yet. */
export interface Proof {
  challenge: string;
  /** The time step of a TOTP code. */
  step: number | undefined;
}

/**
 * Checks the code of an approval, before its transaction. The attempt is counted and committed before the code is checked, so parallel
 * guesses never exceed what the challenge allows. A second limit counts the wrong codes in all challenges and sign-ins of a contact. The
 * challenge must have been opened for these payments.
 * @returns the proof, which `redeem` uses up; undefined if there is nothing to check, and then `redeem` decides whether a proof is needed
 * @throws Problem second_factor_missing, payment_not_found, challenge_expired, step_up_failed, in this order; rate_limited after too many
 * wrong codes
 */
export async function checkStepUp(
  context: Context,
  approval: Approval,
  { challengeId, code }: StepUpAnswer,
): Promise<Proof | undefined> {
  const { pool, clock } = context;
  if (challengeId === undefined || code === undefined) return undefined;
  if (!(await needsStepUp(pool, approval))) return undefined;
  const attempt = await countAttempt(pool, approval, { challengeId, now: clock.now() });
  return verify(context, approval.contactId, { attempt, challengeId, code });
}

/** Checks the code of an attempt that was counted. @throws Problem challenge_expired, step_up_failed; rate_limited after too many wrong codes */
export async function verify(
  context: Context,
  contactId: string,
  { attempt, challengeId, code }: { attempt: Attempt | undefined; challengeId: string; code: string },
): Promise<Proof> {
  if (!attempt) throw challengeExpired();
  const { pool, clock } = context;
  let proof: Proof | undefined;
  const right = await limitAttempts(pool, clock, {
    limit: SECOND_FACTOR_ATTEMPTS,
    subject: secondFactorSubject(contactId),
    attempt: async () => {
      proof = prove(context, attempt, { challengeId, code });
      return proof !== undefined;
    },
  }).catch(asProblem);
  if (!right || !proof) throw stepUpFailed();
  return proof;
}

/** Whether the contact needs a code to approve the payments. @throws Problem second_factor_missing, payment_not_found */
async function needsStepUp(db: Db, { clientId, contactId, paymentIds, whole }: Approval): Promise<boolean> {
  const joined = whole && !isDistributed(db);
  const found = first(
    await db.query<{ needed: boolean; second_factor: string | null; payments?: number }>(
      `select approval_step_up as needed, (select second_factor from contacts where contact_id = $2) as second_factor
         ${joined ? `, ${countPayments('$3')}` : ''}
       from clients where client_id = $1`,
      joined ? [clientId, contactId, paymentIds] : [clientId, contactId],
    ),
  );
  if (!found?.needed) return false;
  if (found.second_factor === 'none') throw secondFactorMissing();
  if (!whole) return true;
  // A Citus worker holds the payments but not the people.
  const { payments } =
    found.payments === undefined
      ? one(await db.query<{ payments: number }>(`select ${countPayments('$2')}`, [clientId, paymentIds]))
      : found;
  if (payments !== paymentIds.length) noPayment();
  return true;
}

/** Looks up each payment separately. Otherwise the planner would scan all payments of the client. @param payments an SQL parameter */
const countPayments = (payments: string) =>
  `(select count(*)::int from unnest(${payments}::text[]) as w(payment_id) cross join lateral (
     select from payments where client_id = $1 and payment_id = w.payment_id offset 0) p) as payments`;

/** What is needed to check an attempt at a challenge. */
export interface Attempt {
  kind: 'totp' | 'sms';
  code_sha256: Buffer | null;
  phone: string | null;
  totp_secret: Buffer | null;
  totp_last_step: number | null;
}

/** The second factor of a contact. */
export async function factorsOf(db: Db, contactId: string) {
  return first(
    await db.query<Omit<Attempt, 'kind' | 'code_sha256'> & { second_factor: string }>(
      'select second_factor, phone, totp_secret, totp_last_step from contacts where contact_id = $1',
      [contactId],
    ),
  );
}

/** Counts an attempt at a challenge that is valid for this approval now. */
async function countAttempt(
  db: Db,
  { clientId, contactId, paymentIds, whole }: Approval,
  { challengeId, now }: { challengeId: string; now: Date },
): Promise<Attempt | undefined> {
  const contact = await factorsOf(db, contactId);
  const named = `from step_up_payments c join payments p on p.client_id = $2 and p.id = c.payment_id where c.challenge_sha256 = $1 and c.client_id = $2`;
  const challenge = first(
    await db.query<Pick<Attempt, 'kind' | 'code_sha256'>>(
      `update step_up_challenges set attempts = attempts + 1
       where challenge_sha256 = $1 and client_id = $2 and contact_id = $3 and kind = $6
         and used_at is null and expires_at > $5 and attempts < ${MAX_ATTEMPTS}
         and array(select p.payment_id ${named} order by p.payment_id collate "C")
           = array(select id collate "C" from unnest($4::text[]) as u(id) order by 1)
         and not ($7 and exists (select ${named} and not (${UNCHANGED})))
       returning kind, code_sha256`,
      [sha256(challengeId), clientId, contactId, paymentIds, now, contact?.second_factor, whole],
    ),
  );
  return contact && challenge && { ...contact, ...challenge };
}

function prove(
  { vault, clock }: Context,
  attempt: Attempt,
  { challengeId, code: typed }: { challengeId: string; code: string },
): Proof | undefined {
  const code = readCode(typed);
  if (code === undefined) return undefined;
  if (attempt.kind === 'sms') {
    const sent = hashTextedCode({ challenge: challengeId, phone: attempt.phone, code });
    const right = attempt.code_sha256?.equals(sent) ?? false;
    return right ? { challenge: challengeId, step: undefined } : undefined;
  }
  if (attempt.totp_secret === null) return undefined;
  const now = clock.now();
  const step = totpStep(vault.open(attempt.totp_secret, 'totp_secret'), code, now);
  if (step === undefined || !isUnusedStep(step, attempt.totp_last_step, now)) return undefined;
  return { challenge: challengeId, step };
}

/**
 * Uses up a proof, as the first step of the approval's transaction: the challenge is used with the approval or not at all. Payments that
 * are unchanged since the code was made stay locked until the transaction ends.
 * @returns the payments that have changed since
 * @throws Problem without a proof, if the client requires one: second_factor_missing, payment_not_found, step_up_required; with a proof:
 * challenge_expired if it was just used or the whole has changed, step_up_failed if the TOTP code was just used
 */
export async function redeem(
  tx: Transaction,
  approval: Approval,
  { proof, now }: { proof: Proof | undefined; now: Date },
): Promise<PaymentId[]> {
  if (!proof) {
    if (await needsStepUp(tx, approval)) throw stepUpRequired();
    return [];
  }
  const { clientId, paymentIds, whole } = approval;
  const challenge = await useUp(tx, approval, { proof, now });
  const { rows } = await tx.query<{ payment_id: PaymentId }>(
    `select p.payment_id from payments p join step_up_payments c on c.challenge_sha256 = $2 and c.client_id = $1 and c.payment_id = p.id
     where p.client_id = $1 and ${UNCHANGED} order by p.id for update of p`,
    [clientId, challenge],
  );
  const same = new Set(rows.map(({ payment_id: id }) => id));
  const changed = paymentIds.filter((id) => !same.has(id));
  if (whole && changed.length > 0) throw challengeExpired();
  return changed;
}

/**
 * Uses up a challenge and its code, in the transaction of what they prove.
 * @returns the hash of the challenge
 * @throws Problem challenge_expired, step_up_failed
 */
export async function useUp(
  tx: Transaction,
  { clientId, contactId }: Pick<Approver, 'clientId' | 'contactId'>,
  { proof, now }: { proof: Proof; now: Date },
): Promise<Buffer> {
  const challenge = sha256(proof.challenge);
  const used = await tx.query(
    `update step_up_challenges set used_at = $4 where challenge_sha256 = $1 and client_id = $2 and contact_id = $3 and used_at is null`,
    [challenge, clientId, contactId, now],
  );
  if (used.rowCount !== 1) throw challengeExpired();
  if (proof.step !== undefined && !(await useTotpStep(tx, { contactId, step: proof.step, now }))) throw stepUpFailed();
  await shareLock(tx, clientId);
  return challenge;
}

/** Throws the refusal after too many wrong codes of this contact, over all challenges. */
function asProblem(error: unknown): never {
  if (!(error instanceof OAuthError) || error.retryAfter === undefined) throw error;
  throw new Problem('rate_limited', error.message, { cause: error, retryAfterSeconds: error.retryAfter });
}

export function stepUpRequired(): Problem {
  return new Problem(
    'step_up_required',
    'body: needs challenge_id and verification_code; open a challenge with POST /payments/{payment_id}/challenges',
  );
}

function stepUpFailed(): Problem {
  return new Problem('step_up_failed', { field: 'verification_code', message: 'is wrong, or was used before' });
}

export function challengeExpired(): Problem {
  return new Problem('challenge_expired', {
    field: 'challenge_id',
    message:
      'is unknown, over, used, or has had too many wrong codes, or the payment has changed since; open a new challenge for it',
  });
}

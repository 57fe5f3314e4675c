import type { Context } from '../../context.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { hashVerificationCode, newVerificationCode } from '../../identity/second-factor/verification-code.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { type ErrorCode, Problem, refusedElements } from '../../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../../values/identifiers.ts';
import type { Language } from '../../values/language.ts';
import { sum } from '../../values/money.ts';
import {
  ACCOUNT,
  claimText,
  findSecondFactor,
  LIFETIME_SECONDS,
  type Opened,
  secondFactorMissing,
} from './challenge.ts';
import { approvalsText } from './message.ts';
import {
  challengeExpired,
  factorsOf,
  type Proof,
  type StepUpAnswer,
  stepUpRequired,
  UNCHANGED,
  useUp,
  verify,
} from './verification.ts';

/** One verification code for the approval of many payments (docs/approvals.md, Step-up). */

/** A contact who is about to approve payments of its client. */
export interface ApproverOfMany {
  clientId: string;
  contactId: string;
  /** Each once. */
  paymentIds: readonly PaymentId[];
}

interface Target {
  id: PaymentNumber;
  payment_id: PaymentId;
  amount: string;
  currency: string;
  account: string;
  status: string;
  iban: string | null;
  account_number: string | null;
  may_authorise: boolean | null;
}

/** A challenge that was opened, and until when. */
export interface OpenedForMany extends Opened {
  expiresAt: Date;
}

const REFUSALS: readonly ErrorCode[] = ['payment_not_found', 'approval_not_allowed'];

/**
 * Opens a challenge for the approval of many payments, in the caller's transaction. Its text message is sent once that has ended
 * (`sendOpened`).
 * @param language of the text message, where the contact has chosen none
 * @throws Problem second_factor_missing; payment_not_found, approval_not_allowed with all payments that cause it; rate_limited
 */
export async function openStepUpForMany(
  tx: Transaction,
  { config }: Pick<Context, 'config'>,
  approver: ApproverOfMany,
  { now, language }: { now: Date; language: Language },
): Promise<OpenedForMany> {
  const { clientId, contactId } = approver;
  const contact = await findSecondFactor(tx, contactId);
  const targets = await findTargets(tx, approver);
  const texted = contact.kind === 'sms';
  if (texted) await claimText(tx, contactId, now);
  const challenge = randomToken();
  const code = texted ? newVerificationCode() : undefined;
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1_000);
  const hash = code === undefined ? null : hashVerificationCode(`${challenge} ${contact.phone ?? ''}`, code);
  tx.later({
    text: `insert into step_up_challenges (challenge_sha256, client_id, contact_id, kind, code_sha256, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [sha256(challenge), clientId, contactId, contact.kind, hash, now, expiresAt],
  });
  tx.later({
    text: `insert into step_up_payments (challenge_sha256, client_id, payment_id, amount, payment_currency, account, status)
      select $1, $2, * from unnest($3::bigint[], $4::numeric[], $5::text[], $6::jsonb[], $7::payment_status[])`,
    values: [
      sha256(challenge),
      clientId,
      targets.map(({ id }) => id),
      targets.map(({ amount }) => amount),
      targets.map(({ currency }) => currency),
      targets.map(({ account }) => account),
      targets.map(({ status }) => status),
    ],
  });
  const sums = new Map<string, string>();
  for (const { currency, amount } of targets) sums.set(currency, sum(sums.get(currency) ?? '0', amount));
  const accounts = targets.map(({ iban, account_number: number }) => iban ?? number ?? '-');
  const text = code && approvalsText(contact.language ?? language, config.institution.name, { code, sums, accounts });
  return {
    challenge: { challenge_id: challenge, second_factor: contact.kind, expires_at: expiresAt.toISOString() },
    expiresAt,
    text: text || undefined,
  };
}

async function findTargets(db: Db, { clientId, contactId, paymentIds }: ApproverOfMany): Promise<Target[]> {
  const { rows } = await db.query<Target & Record<string, unknown>>(
    `select p.id, p.payment_id, p.amount::text as amount, p.payment_currency as currency, ${ACCOUNT}::text as account, p.status::text as status,
       p.iban, p.account_number, a.may_authorise
     from unnest($3::text[]) as w(payment_id) cross join lateral (
       select * from payments where client_id = $1 and payment_id = w.payment_id offset 0) p
     left join payment_approvers a on a.client_id = $1 and a.payment_id = p.id and a.contact_id = $2`,
    [clientId, contactId, paymentIds],
  );
  const found = new Map(rows.map((row) => [row.payment_id, row]));
  const refused = new Map<number, Problem>();
  for (const [index, id] of paymentIds.entries()) {
    const target = found.get(id);
    if (target?.may_authorise) continue;
    refused.set(
      index,
      target
        ? new Problem(
            'approval_not_allowed',
            `body.payment_ids[${index}]: this contact may not approve it now: the payment is "${target.status}"`,
          )
        : new Problem('payment_not_found', `body.payment_ids[${index}]: does not exist for this client`),
    );
  }
  if (refused.size > 0) throw refusedElements('payment_ids', refused, REFUSALS);
  return paymentIds.map((id) => found.get(id) as Target);
}

/** Whether the client asks for a code. @throws Problem second_factor_missing */
async function needsCode(db: Db, { clientId, contactId }: ApproverOfMany): Promise<boolean> {
  const found = first(
    await db.query<{ needed: boolean; second_factor: string | null }>(
      `select approval_step_up as needed, (select second_factor from contacts where contact_id = $2) as second_factor
       from clients where client_id = $1`,
      [clientId, contactId],
    ),
  );
  if (!found?.needed) return false;
  if (found.second_factor === 'none') throw secondFactorMissing();
  return true;
}

/**
 * Checks the code of the approval of many payments, before its transaction: as `checkStepUp`. The challenge must have been opened for these
 * payments.
 * @throws Problem second_factor_missing, step_up_required, challenge_expired, step_up_failed; rate_limited after too many wrong codes
 */
export async function checkStepUpForMany(
  context: Context,
  approver: ApproverOfMany,
  { challengeId, code }: StepUpAnswer,
): Promise<Proof | undefined> {
  const { pool, clock } = context;
  if (!(await needsCode(pool, approver))) return undefined;
  if (challengeId === undefined || code === undefined) throw stepUpRequired();
  const { clientId, contactId, paymentIds } = approver;
  const contact = await factorsOf(pool, contactId);
  const counted = first(
    await pool.query<{ kind: 'totp' | 'sms'; code_sha256: Buffer | null }>(
      `update step_up_challenges c set attempts = attempts + 1
       where c.challenge_sha256 = $1 and c.client_id = $2 and c.contact_id = $3 and c.kind = $4 and c.payment_id is null
         and c.used_at is null and c.expires_at > $5 and c.attempts < 5
         and array(select p.payment_id from step_up_payments s join payments p on p.client_id = $2 and p.id = s.payment_id
           where s.challenge_sha256 = $1 order by p.payment_id collate "C")
         = array(select id collate "C" from unnest($6::text[]) as u(id) order by 1)
       returning c.kind, c.code_sha256`,
      [sha256(challengeId), clientId, contactId, contact?.second_factor, clock.now(), paymentIds],
    ),
  );
  const attempt = contact && counted && { ...contact, ...counted };
  return verify(context, contactId, { attempt, challengeId, code });
}

/**
 * Uses a proof up, as the first step of the transaction of the approvals: `redeem` for many. Payments that are still what the code stands
 * for stay so until the transaction ends.
 * @returns the payments that have changed since
 * @throws Problem step_up_required, challenge_expired, step_up_failed
 */
export async function redeemForMany(
  tx: Transaction,
  approver: ApproverOfMany,
  { proof, now }: { proof: Proof | undefined; now: Date },
): Promise<Set<PaymentId>> {
  if (!proof) {
    if (await needsCode(tx, approver)) throw stepUpRequired();
    return new Set();
  }
  const challenge = await useUp(tx, approver, { proof, now });
  const { rows } = await tx.query<{ payment_id: PaymentId }>(
    `select p.payment_id from payments p join step_up_payments c on c.challenge_sha256 = $2 and c.client_id = $1 and c.payment_id = p.id
     where p.client_id = $1 and ${UNCHANGED} order by p.id for update of p`,
    [approver.clientId, challenge],
  );
  const same = new Set(rows.map(({ payment_id: id }) => id));
  return new Set(approver.paymentIds.filter((id) => !same.has(id)));
}

/** Why a payment that has changed since the challenge is not approved. */
export function changedSince(): Problem {
  return challengeExpired();
}

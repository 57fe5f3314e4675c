import type { Context } from '../../context.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import {
  hashVerificationCode,
  newVerificationCode,
  sendVerificationCode,
} from '../../identity/second-factor/verification-code.ts';
import { randomToken, sha256 } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../../values/identifiers.ts';
import type { Language } from '../../values/language.ts';
import { noPayment } from '../payment.ts';
import { approvalText, type Payee } from './message.ts';

export const LIFETIME_SECONDS = 300;
/** Time between two text messages to one person, whatever the payments. */
const MIN_TEXT_INTERVAL_SECONDS = 30;

/** The account of a payment `p` as a challenge keeps it: SQL. */
export const ACCOUNT = 'jsonb_build_array(p.account_number, p.iban, p.swift_code, p.bank_identifier)';

/**
 * Whether a payment `p` still has the account that a challenge `c` keeps: SQL. It is taken apart, since Citus lets no update compare what is
 * put together from columns.
 */
export const SAME_ACCOUNT = `(p.account_number, p.iban, p.swift_code, p.bank_identifier)
  is not distinct from (c.account ->> 0, c.account ->> 1, c.account ->> 2, c.account ->> 3)`;

/** A contact who is about to approve a payment of its client. */
export interface Approver {
  clientId: string;
  contactId: string;
  paymentId: PaymentId;
}

/** An open challenge, as its caller is told. */
export interface OpenChallenge {
  challenge_id: string;
  second_factor: 'totp' | 'sms';
  expires_at: string;
}

interface Target extends Payee {
  id: PaymentNumber;
  account: string;
  status: string;
  may_authorise: boolean | null;
}

/** A challenge that was opened: its answer, and the text message that is still to be sent. */
export interface Opened {
  challenge: OpenChallenge;
  text: string | undefined;
}

/**
 * Opens a challenge for the approval of a payment (docs/approvals.md, Step-up), in the caller's transaction. Where the second factor is SMS,
 * a text message with the code, the amount and the payee's account is sent once that has ended (`sendOpened`): PSD2's dynamic linking (RTS
 * on strong customer authentication, Art. 5).
 * @param language of the text message, where the contact has chosen none
 * @throws Problem second_factor_missing, payment_not_found, approval_not_allowed, rate_limited
 */
export async function openStepUp(
  tx: Transaction,
  { config }: Pick<Context, 'config'>,
  approver: Approver,
  { now, language }: { now: Date; language: Language },
): Promise<Opened> {
  const { clientId, contactId } = approver;
  const contact = await findSecondFactor(tx, contactId);
  const payment = await findTarget(tx, approver);
  const texted = contact.kind === 'sms';
  if (texted) await claimText(tx, contactId, now);
  const challenge = randomToken();
  const code = texted ? newVerificationCode() : undefined;
  const expires = new Date(now.getTime() + LIFETIME_SECONDS * 1_000);
  tx.later({
    text: `insert into step_up_challenges (challenge_sha256, client_id, contact_id, payment_id, kind, amount, payment_currency, account, status,
       code_sha256, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      sha256(challenge),
      clientId,
      contactId,
      payment.id,
      contact.kind,
      payment.amount,
      payment.currency,
      payment.account,
      payment.status,
      code === undefined ? null : hashTextedCode({ challenge, phone: contact.phone, code }),
      now,
      expires,
    ],
  });
  const text = code && approvalText(contact.language ?? language, config.institution.name, { code, ...payment });
  return {
    challenge: { challenge_id: challenge, second_factor: contact.kind, expires_at: expires.toISOString() },
    text: text || undefined,
  };
}

/** Sends the text message of a challenge, if it has one. @throws Problem integration_error */
export async function sendOpened(context: Context, contactId: string, { text }: Pick<Opened, 'text'>): Promise<void> {
  if (text !== undefined) await sendVerificationCode(context, contactId, text).catch(asProblem);
}

/** The gateway failed. */
function asProblem(error: unknown): never {
  if (!(error instanceof OAuthError)) throw error;
  throw new Problem('integration_error', error.message, { cause: error });
}

/** @throws Problem second_factor_missing */
export async function findSecondFactor(
  db: Db,
  contactId: string,
): Promise<{ kind: 'totp' | 'sms'; language: Language | null; phone: string | null }> {
  const found = first(
    await db.query<{ kind: 'none' | 'totp' | 'sms'; language: Language | null; phone: string | null }>(
      'select second_factor as kind, language, phone from contacts where contact_id = $1',
      [contactId],
    ),
  );
  if (!found || found.kind === 'none') throw secondFactorMissing();
  return { kind: found.kind, language: found.language, phone: found.phone };
}

/** The stored form of a code that went to a phone. Once the contact has another number it proves nothing: the phone may be lost. */
export function hashTextedCode(sent: { challenge: string; phone: string | null; code: string }): Buffer {
  return hashVerificationCode(`${sent.challenge} ${sent.phone ?? ''}`, sent.code);
}

export function secondFactorMissing(): Problem {
  return new Problem(
    'second_factor_missing',
    'contact: needs a second factor (an authenticator or a phone) to approve payments of this client',
  );
}

/** @throws Problem payment_not_found, approval_not_allowed */
async function findTarget(db: Db, { clientId, contactId, paymentId }: Approver): Promise<Target> {
  const payment = first(
    await db.query<Target & Record<string, unknown>>(
      `select p.id, p.amount::text as amount, p.payment_currency as currency, ${ACCOUNT}::text as account, p.status::text as status,
         p.beneficiary_name as name, p.iban, p.account_number, a.may_authorise
       from payments p
       left join payment_approvers a on a.client_id = $1 and a.payment_id = p.id and a.contact_id = $2
       where p.client_id = $1 and p.payment_id = $3`,
      [clientId, contactId, paymentId],
    ),
  );
  if (!payment) noPayment();
  if (payment.may_authorise) return payment;
  throw new Problem('approval_not_allowed', {
    field: 'payment_id',
    message: `this contact may not approve it now: the payment is "${payment.status}"`,
  });
}

/** Takes the person's turn for a text message; one statement, so that of two at once one is refused. @throws Problem rate_limited */
export async function claimText(db: Db, contactId: string, now: Date): Promise<void> {
  const interval = `make_interval(secs => ${MIN_TEXT_INTERVAL_SECONDS})`;
  // A moment far in the future comes from a sandbox clock that was moved back since.
  const claimed = await db.query(
    `insert into step_up_texts as t (contact_id, sent_at) values ($1, $2)
     on conflict (contact_id) do update set sent_at = excluded.sent_at
     where t.sent_at <= $2::timestamptz - ${interval} or t.sent_at > $2::timestamptz + ${interval}`,
    [contactId, now],
  );
  if (claimed.rowCount === 1) return;
  const sent = first(
    await db.query<{ sent_at: Date }>('select sent_at from step_up_texts where contact_id = $1', [contactId]),
  );
  const elapsed = Math.floor((now.getTime() - (sent?.sent_at.getTime() ?? 0)) / 1_000);
  const seconds = Math.max(1, MIN_TEXT_INTERVAL_SECONDS - elapsed);
  throw new Problem('rate_limited', `a text message was sent a moment ago; try again in ${seconds} seconds`, {
    retryAfterSeconds: seconds,
  });
}

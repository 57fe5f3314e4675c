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
import { unknownPayment } from '../payment.ts';
import { approvalText, type Payee } from './message.ts';

const LIFETIME_SECONDS = 300;
/** Seconds between two text messages to one person, whatever the payments. */
const MIN_TEXT_INTERVAL_SECONDS = 30;

/** A contact who is about to approve payments of its client. */
export interface Approver {
  clientId: string;
  contactId: string;
  /** Without duplicates. */
  paymentIds: readonly PaymentId[];
}

/** An open challenge, in the form of an answer. */
interface OpenChallenge {
  challenge_id: string;
  second_factor: 'totp' | 'sms';
  expires_at: string;
}

/** A challenge that was opened: its answer, and the text message that is still to be sent. */
export interface OpenedStepUp {
  challenge: OpenChallenge;
  expiresAt: Date;
  text: string | undefined;
}

interface Target extends Payee {
  id: PaymentNumber;
  payment_id: PaymentId;
  account: string;
  status: string;
  may_authorise: boolean | null;
}

/** How a challenge is opened. */
interface Opening {
  now: Date;
  /** The language of the text message, if the contact has not chosen one. */
  language: Language;
  /** Makes the refusal if payments are refused: payment_not_found, approval_not_allowed by their place. */
  refusal: (refused: ReadonlyMap<number, Problem>) => Problem;
}

/**
 * Opens a challenge for the approval of payments (docs/approvals.md, Step-up), in the caller's transaction. If the second factor is SMS,
 * the text message contains the code, the amount and the payee's account. This is the dynamic linking of PSD2 (RTS on strong customer
 * authentication, Art. 5). It is sent after the transaction (`sendOpened`).
 * @throws Problem second_factor_missing, the refusal, rate_limited
 */
export async function openStepUp(
  tx: Transaction,
  { config }: Pick<Context, 'config'>,
  approver: Approver,
  { now, language, refusal }: Opening,
): Promise<OpenedStepUp> {
  const { clientId, contactId } = approver;
  const contact = await findSecondFactor(tx, contactId);
  const { targets, refused } = await findTargets(tx, approver);
  if (refused.size > 0) throw refusal(refused);
  const { code, ...opened } = await keepChallenge(tx, approver, { contact, now });
  tx.later({
    text: `insert into step_up_payments (challenge_sha256, client_id, payment_id, amount, payment_currency, account, status)
      select $1, $2, * from unnest($3::bigint[], $4::numeric[], $5::text[], $6::jsonb[], $7::payment_status[])`,
    values: [
      sha256(opened.challenge.challenge_id),
      clientId,
      targets.map(({ id }) => id),
      targets.map(({ amount }) => amount),
      targets.map(({ currency }) => currency),
      targets.map(({ account }) => account),
      targets.map(({ status }) => status),
    ],
  });
  const text = code && approvalText(contact.language ?? language, config.institution.name, { code, payments: targets });
  return { ...opened, text };
}

/** The second factor of a contact. */
interface SecondFactor {
  kind: 'totp' | 'sms';
  language: Language | null;
  phone: string | null;
}

/**
 * Stores a new challenge, in the caller's transaction.
 * @param options `file`: it is for the confirmation of this file, with this content
 * @returns `code`: the code of its text message, if it has one
 * @throws Problem rate_limited
 */
export async function keepChallenge(
  tx: Transaction,
  { clientId, contactId }: Pick<Approver, 'clientId' | 'contactId'>,
  { contact, now, file }: { contact: SecondFactor; now: Date; file?: { id: string; content: Buffer } },
): Promise<Omit<OpenedStepUp, 'text'> & { code: string | undefined }> {
  const texted = contact.kind === 'sms';
  if (texted) await claimText(tx, contactId, now);
  const challenge = randomToken();
  const code = texted ? newVerificationCode() : undefined;
  const hash = code === undefined ? null : hashTextedCode({ challenge, phone: contact.phone, code });
  const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1_000);
  tx.later({
    text: `insert into step_up_challenges (challenge_sha256, client_id, contact_id, kind, code_sha256, created_at, expires_at, mass_payment_id,
        content_sha256) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      ...[sha256(challenge), clientId, contactId, contact.kind, hash, now, expiresAt],
      ...[file?.id ?? null, file?.content ?? null],
    ],
  });
  const told = { challenge_id: challenge, second_factor: contact.kind, expires_at: expiresAt.toISOString() };
  return { challenge: told, expiresAt, code };
}

/** Sends the text message of a challenge, if it has one. @throws Problem integration_error */
export async function sendOpened(context: Context, contactId: string, { text }: OpenedStepUp): Promise<void> {
  if (text !== undefined) await sendVerificationCode(context, contactId, text).catch(asProblem);
}

/** Throws the error for a failed gateway. */
function asProblem(error: unknown): never {
  if (!(error instanceof OAuthError)) throw error;
  throw new Problem('integration_error', error.message, { cause: error });
}

/** @throws Problem second_factor_missing */
export async function findSecondFactor(db: Db, contactId: string): Promise<SecondFactor> {
  const found = first(
    await db.query<Omit<SecondFactor, 'kind'> & { kind: SecondFactor['kind'] | 'none' }>(
      'select second_factor as kind, language, phone from contacts where contact_id = $1',
      [contactId],
    ),
  );
  if (!found || found.kind === 'none') throw secondFactorMissing();
  return { kind: found.kind, language: found.language, phone: found.phone };
}

/**
 * The stored form of a code that was sent to a phone. It includes the number, so the code proves nothing once the contact has another
 * number: the phone may be lost.
 */
export function hashTextedCode(sent: { challenge: string; phone: string | null; code: string }): Buffer {
  return hashVerificationCode(`${sent.challenge} ${sent.phone ?? ''}`, sent.code);
}

export function secondFactorMissing(): Problem {
  return new Problem(
    'second_factor_missing',
    'contact: needs a second factor (an authenticator or a phone) to approve payments of this client',
  );
}

/** The payments, in the order in which they are named, and why some are refused, by their place. */
async function findTargets(
  db: Db,
  { clientId, contactId, paymentIds }: Approver,
): Promise<{ targets: Target[]; refused: Map<number, Problem> }> {
  const { rows } = await db.query<Target & Record<string, unknown>>(
    `select p.id, p.payment_id, p.amount::text as amount, p.payment_currency as currency,
       jsonb_build_array(p.account_number, p.iban, p.swift_code, p.bank_identifier)::text as account, p.status::text as status,
       p.beneficiary_name as name, p.iban, p.account_number, a.may_authorise
     from unnest($3::text[]) as w(payment_id) cross join lateral (
       select * from payments where client_id = $1 and payment_id = w.payment_id offset 0) p
     left join payment_approvers a on a.client_id = $1 and a.payment_id = p.id and a.contact_id = $2`,
    [clientId, contactId, paymentIds],
  );
  const found = new Map(rows.map((row) => [row.payment_id, row]));
  const refused = new Map<number, Problem>();
  for (const [index, id] of paymentIds.entries()) {
    const target = found.get(id);
    if (!target) refused.set(index, unknownPayment());
    else if (!target.may_authorise)
      refused.set(
        index,
        new Problem('approval_not_allowed', {
          field: 'payment_id',
          message: `this contact may not approve it now: the payment is "${target.status}"`,
        }),
      );
  }
  return { targets: paymentIds.flatMap((id) => found.get(id) ?? []), refused };
}

/** Reserves the person's next text message. It is one statement, so of two at the same time one is refused. @throws Problem rate_limited */
async function claimText(db: Db, contactId: string, now: Date): Promise<void> {
  const interval = `make_interval(secs => ${MIN_TEXT_INTERVAL_SECONDS})`;
  // A moment far in the future was written by a sandbox clock that has since been moved back.
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

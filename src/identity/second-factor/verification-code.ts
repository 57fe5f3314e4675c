import { randomInt } from 'node:crypto';
import type { Context } from '../../context.ts';
import { first } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';
import { messageOf } from '../../values/unknown.ts';
import { OAuthError } from '../oauth-error.ts';
import { sendText } from './text-message.ts';

/** Seconds between two text messages of one challenge. */
export const MIN_TEXT_INTERVAL_SECONDS = 30;
/** The most sign-ins of a contact within the window that send a text message. Text messages cost money. */
const MAX_TEXTED_SIGN_INS = 20;
const TEXTED_WINDOW_SECONDS = 900;

/** The text message with a code, in the reader's language. */
export type CodeMessage = (code: string) => string;

/** A random code of six digits. */
export function newVerificationCode(): string {
  return String(randomInt(0, 1_000_000)).padStart(6, '0');
}

/** The stored form of a code. It is hashed together with its challenge, because the hash of six digits alone is easily reversed. */
export function hashVerificationCode(challenge: string, code: string): Buffer {
  return sha256(`${challenge} ${code}`);
}

/** A code as somebody typed it. Blanks are removed, and full-width digits are accepted. Undefined if it is not six digits. */
export function readCode(typed: string): string | undefined {
  const code = typed
    .replace(/\s/g, '')
    .replace(/[\uff10-\uff19]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 0xff10 + 0x30));
  return /^[0-9]{6}$/.test(code) ? code : undefined;
}

/**
 * Sends a code to the contact's phone.
 * @throws OAuthError server_error (`text_failed`) if the contact has no phone or the gateway failed
 */
export async function sendVerificationCode(
  { pool, config, log, clock }: Context,
  contactId: string,
  text: string,
): Promise<void> {
  const row = first(
    await pool.query<{ phone: string | null }>('select phone from contacts where contact_id = $1', [contactId]),
  );
  try {
    if (!row?.phone) throw new Error('the contact has no phone number');
    await sendText(pool, config, { to: row.phone, text, now: clock.now() });
  } catch (error) {
    log.error({ contact: contactId, reason: messageOf(error) }, 'a verification code could not be sent');
    throw new OAuthError('server_error', 'the text message could not be sent: try again in a moment', {
      refusal: 'text_failed',
      cause: error,
    });
  }
}

/** @throws OAuthError temporarily_unavailable if too many sign-ins of the contact have sent a text message */
export async function limitTexts({ pool }: Context, contactId: string, now: Date): Promise<void> {
  const row = first(
    await pool.query<{ sent: number }>(
      `select count(*) as sent from second_factor_challenges
       where kind = 'sms' and contact_id = $1 and sms_sent_at > $2::timestamptz - make_interval(secs => $3)`,
      [contactId, now, TEXTED_WINDOW_SECONDS],
    ),
  );
  if ((row?.sent ?? 0) >= MAX_TEXTED_SIGN_INS) throw textTooSoon(TEXTED_WINDOW_SECONDS);
}

export function textTooSoon(seconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', `a text message was sent a moment ago: try again in ${seconds} s`, {
    retryAfter: Math.max(1, seconds),
    refusal: 'text_too_soon',
  });
}

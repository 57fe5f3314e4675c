import { randomInt } from 'node:crypto';
import type { Context } from '../context.ts';
import { randomToken, sha256 } from '../crypto.ts';
import { first } from '../database.ts';
import type { Authorization } from './authorization-code.ts';
import { guess, SECOND_FACTOR_GUESSES } from './guessing.ts';
import { OAuthError } from './oauth-error.ts';
import { sendText } from './text-message.ts';
import { presentStep, TOTP_DRIFT, totpStep } from './totp.ts';

export { newTotp } from './totp.ts';

/** Seconds that a handle lives, and the wrong codes it takes (docs/decisions.md, 7). */
const HANDLE_LIFETIME = 300;
const MAX_TRIES = 5;
/** Seconds between two texts of one handle. */
const TEXT_INTERVAL = 30;
/** Sign-ins of a contact that send a text, within so many seconds: texts cost money. */
const MAX_TEXTED = 20;
const TEXTED_WINDOW = 900;

export type SecondFactorKind = 'totp' | 'sms';

/** A sign-in that waits for its second factor. */
export interface Handle {
  kind: SecondFactorKind;
  applicationId: string;
  contactId: string;
  redirectUri: string;
  state: string;
}

/** Who presents a handle: the application itself (Basic), or the browser whose page it is, by its cookie. */
export type Presenter = { applicationId: string } | { browser: string };

/** The words of a text with a code, in the reader's language. */
export type CodeText = (code: string) => string;

/**
 * Opens the second step of a sign-in whose password was right; sends the first text where the factor is SMS.
 * @param browser the cookie of the page's browser; undefined for a headless sign-in
 * @returns the handle, which is useless at the token endpoint
 * @throws OAuthError temporarily_unavailable after too many texts, server_error where the gateway failed
 */
export async function openHandle(
  context: Context,
  given: Omit<Authorization, 'methods' | 'authenticatedAt'> & {
    kind: SecondFactorKind;
    state: string;
    browser: string | undefined;
    text: CodeText;
  },
): Promise<string> {
  const now = context.clock.now();
  const handle = randomToken();
  if (given.kind === 'sms') await refuseTooManyTexts(context, given.contactId, now);
  const code = given.kind === 'sms' ? newCode() : undefined;
  await context.pool.query({
    name: 'open_handle',
    text: `insert into second_factor_handles (handle_sha256, browser_sha256, application_id, contact_id, kind, redirect_uri, state, nonce,
        code_challenge, sms_code_sha256, sms_sent_at, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      sha256(handle),
      given.browser === undefined ? null : sha256(given.browser),
      given.applicationId,
      given.contactId,
      given.kind,
      given.redirectUri,
      given.state,
      given.nonce,
      given.codeChallenge,
      code === undefined ? null : codeHash(handle, code),
      code === undefined ? null : now,
      now,
      new Date(now.getTime() + HANDLE_LIFETIME * 1_000),
    ],
  });
  if (code !== undefined) await text(context, given.contactId, given.text(code), now);
  return handle;
}

async function refuseTooManyTexts({ pool }: Context, contactId: string, now: Date): Promise<void> {
  const row = first(
    await pool.query<{ sent: number }>(
      `select count(*) as sent from second_factor_handles
       where kind = 'sms' and contact_id = $1 and sms_sent_at > $2::timestamptz - make_interval(secs => $3)`,
      [contactId, now, TEXTED_WINDOW],
    ),
  );
  if ((row?.sent ?? 0) >= MAX_TEXTED) throw tooSoon(TEXTED_WINDOW);
}

/**
 * The sign-in of a handle, for its page. A handle that was made without a browser belongs to the first one that opens its page.
 * @throws OAuthError invalid_grant (`expired`)
 */
export async function findHandle(context: Context, handle: string, clientId: string, browser: string): Promise<Handle> {
  const row = first(
    await context.pool.query<HandleRow>(
      `update second_factor_handles set browser_sha256 = $3
       where handle_sha256 = $1 and application_id = $2 and (browser_sha256 is null or browser_sha256 = $3)
         and used_at is null and expires_at > $4 and tries < ${MAX_TRIES}
       returning kind, application_id, contact_id, redirect_uri, state`,
      [sha256(handle), clientId, sha256(browser), context.clock.now()],
    ),
  );
  if (!row) throw expired();
  return toHandle(row);
}

interface HandleRow {
  kind: SecondFactorKind;
  application_id: string;
  contact_id: string;
  redirect_uri: string;
  state: string;
}

function toHandle(row: HandleRow): Handle {
  return {
    kind: row.kind,
    applicationId: row.application_id,
    contactId: row.contact_id,
    redirectUri: row.redirect_uri,
    state: row.state,
  };
}

/**
 * Tries a verification code. The try is counted and committed before the code is looked at, so that parallel tries never get more
 * than the handle takes; over all handles of a contact wrong codes are limited once more.
 * @returns the handle, which is used up now
 * @throws OAuthError invalid_grant: `wrong_code`, or `expired` where the handle takes no code any more
 */
export async function verifyHandle(
  context: Context,
  given: { handle: string; clientId: string; presenter: Presenter; code: string; redirectUri?: string | undefined },
): Promise<Handle & { nonce: string | null; codeChallenge: string | null }> {
  const { pool, clock } = context;
  const key = sha256(given.handle);
  const tried = first(
    await pool.query<
      HandleRow & {
        sms_code_sha256: Buffer | null;
        totp_secret: Buffer | null;
        nonce: string | null;
        code_challenge: string | null;
      }
    >({
      name: 'try_handle',
      text: `update second_factor_handles h set tries = tries + 1
        from contacts k
        where h.handle_sha256 = $1 and h.application_id = $2 and ($3::bytea is null or h.browser_sha256 = $3)
          and ($5::text is null or h.redirect_uri = $5)
          and h.used_at is null and h.expires_at > $4 and h.tries < ${MAX_TRIES}
          and k.contact_id = h.contact_id and k.status = 'enabled'
        returning h.kind, h.application_id, h.contact_id, h.redirect_uri, h.state, h.sms_code_sha256, h.nonce, h.code_challenge, k.totp_secret`,
      values: [
        key,
        given.clientId,
        'browser' in given.presenter ? sha256(given.presenter.browser) : null,
        clock.now(),
        given.redirectUri ?? null,
      ],
    }),
  );
  if (!tried || ('applicationId' in given.presenter && given.presenter.applicationId !== given.clientId))
    throw expired();
  const code = given.code.replace(/\s/g, '');
  const right = await guess(pool, SECOND_FACTOR_GUESSES, `second-factor:${tried.contact_id}`, clock, async () =>
    tried.kind === 'sms'
      ? (tried.sms_code_sha256?.equals(codeHash(given.handle, code)) ?? false)
      : useTotp(context, tried.contact_id, tried.totp_secret, code),
  );
  if (!right)
    throw new OAuthError('invalid_grant', 'verification_code: is wrong, or was used before', { refusal: 'wrong_code' });
  const used = await pool.query(
    'update second_factor_handles set used_at = $2 where handle_sha256 = $1 and used_at is null',
    [key, clock.now()],
  );
  if (used.rowCount !== 1) throw expired();
  return { ...toHandle(tried), nonce: tried.nonce, codeChallenge: tried.code_challenge };
}

/** A code of a step works once: the step is stored, and no step up to it is taken again. */
async function useTotp(
  { pool, vault, clock }: Context,
  contactId: string,
  sealed: Buffer | null,
  code: string,
): Promise<boolean> {
  if (sealed === null) return false;
  const now = clock.now();
  const step = totpStep(vault.open(sealed, 'totp_secret'), code, now);
  if (step === undefined) return false;
  // A stored step that is still to come is left from a sandbox clock that was turned back.
  const used = await pool.query(
    'update contacts set totp_last_step = $2 where contact_id = $1 and (totp_last_step is null or totp_last_step < $2 or totp_last_step > $3)',
    [contactId, step, presentStep(now) + TOTP_DRIFT],
  );
  return used.rowCount === 1;
}

/**
 * Sends a new code; the one before it works no longer.
 * @throws OAuthError temporarily_unavailable within TEXT_INTERVAL, invalid_grant (`expired`), server_error where the gateway failed
 */
export async function resendCode(context: Context, handle: string, clientId: string, words: CodeText): Promise<void> {
  const { pool, clock } = context;
  const now = clock.now();
  const key = sha256(handle);
  const code = newCode();
  const sent = first(
    await pool.query<{ contact_id: string }>(
      `update second_factor_handles set sms_code_sha256 = $3, sms_sent_at = $4
       where handle_sha256 = $1 and application_id = $2 and kind = 'sms' and used_at is null and expires_at > $4 and tries < ${MAX_TRIES}
         and (sms_sent_at is null or sms_sent_at <= $4::timestamptz - make_interval(secs => $5))
       returning contact_id`,
      [key, clientId, codeHash(handle, code), now, TEXT_INTERVAL],
    ),
  );
  if (sent) return text(context, sent.contact_id, words(code), now);
  const known = first(
    await pool.query<{ kind: SecondFactorKind; sms_sent_at: Date | null }>(
      `select kind, sms_sent_at from second_factor_handles
       where handle_sha256 = $1 and application_id = $2 and used_at is null and expires_at > $3 and tries < ${MAX_TRIES}`,
      [key, clientId, now],
    ),
  );
  if (!known) throw expired();
  if (known.kind !== 'sms')
    throw new OAuthError('invalid_request', 'the second factor of this sign-in is no text message');
  throw tooSoon(TEXT_INTERVAL - Math.floor((now.getTime() - (known.sms_sent_at?.getTime() ?? 0)) / 1_000));
}

async function text({ pool, config, log }: Context, contactId: string, words: string, now: Date): Promise<void> {
  const row = first(
    await pool.query<{ phone: string | null }>('select phone from contacts where contact_id = $1', [contactId]),
  );
  try {
    if (!row?.phone) throw new Error('the contact has no phone number');
    await sendText(pool, config, row.phone, words, now);
  } catch (error) {
    log.error({ contact: contactId, reason: (error as Error).message }, 'a verification code could not be sent');
    throw new OAuthError('server_error', 'the text message could not be sent: try again in a moment', {
      refusal: 'text_failed',
      cause: error,
    });
  }
}

function newCode(): string {
  return String(randomInt(0, 1_000_000)).padStart(6, '0');
}

/** Hashed together with the handle, of which only a hash is stored: six digits alone would be found at once. */
function codeHash(handle: string, code: string): Buffer {
  return sha256(`${handle} ${code}`);
}

function expired(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'the sign-in is unknown, over, or has taken too many wrong codes: begin again',
    { refusal: 'expired' },
  );
}

function tooSoon(seconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', `a text was sent a moment ago: try again in ${seconds} s`, {
    retryAfter: Math.max(1, seconds),
    refusal: 'text_too_soon',
  });
}

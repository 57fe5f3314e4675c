import { Secret, TOTP } from 'otpauth';
import type { Db } from '../../database/database.ts';

/** As long as the SHA-1 hash that every authenticator application computes (RFC 4226, 4). */
const SECRET_BYTES = 20;
/** The length of a step, and the number of steps before and after the current one that are accepted (RFC 6238, 5.2). */
const STEP_SECONDS = 30;
const TOTP_DRIFT_STEPS = 1;

function generator(secret: Secret, issuer = '', label = ''): TOTP {
  return new TOTP({ issuer, label, secret, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
}

/**
 * A new TOTP seed (RFC 6238): the secret in base32 and the `otpauth:` address for a QR code. It is shown once and stored encrypted.
 * @param issuer the institution's name for the authenticator application
 * @param label the contact's email
 */
export function newTotp(issuer: string, label: string): { secret: string; uri: string } {
  const secret = new Secret({ size: SECRET_BYTES });
  // In the Key URI format a colon ends the issuer.
  return {
    secret: secret.base32,
    uri: generator(secret, issuer.replaceAll(':', ' '), label.replaceAll(':', ' ')).toString(),
  };
}

/** The time step that a code belongs to; undefined if no step that is accepted now gives this code. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const totp = generator(Secret.fromBase32(secret));
  const drift = totp.validate({ token: code, timestamp: now.getTime(), window: TOTP_DRIFT_STEPS });
  return drift === null ? undefined : presentStep(now) + drift;
}

/** The number of the step at an instant. */
function presentStep(now: Date): number {
  return Math.floor(now.getTime() / 1_000 / STEP_SECONDS);
}

/** Whether a step is later than every one that the contact has used (RFC 6238, 5.2: a code is accepted once). */
export function isUnusedStep(step: number, lastStep: number | null, now: Date): boolean {
  // A stored step in the future was written by a sandbox clock that has since been moved back.
  return lastStep === null || lastStep < step || lastStep > presentStep(now) + TOTP_DRIFT_STEPS;
}

/** Uses up a step: it and earlier steps are not accepted again. @returns false if it was used before */
export async function useTotpStep(
  db: Db,
  { contactId, step, now }: { contactId: string; step: number; now: Date },
): Promise<boolean> {
  const used = await db.query(
    `update contacts set totp_last_step = $2
     where contact_id = $1 and (totp_last_step is null or totp_last_step < $2 or totp_last_step > $3)`,
    [contactId, step, presentStep(now) + TOTP_DRIFT_STEPS],
  );
  return used.rowCount === 1;
}

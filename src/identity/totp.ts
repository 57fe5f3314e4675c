import { Secret, TOTP } from 'otpauth';

/** As long as the SHA-1 that every authenticator application computes (RFC 4226, 4). */
const SECRET_BYTES = 20;
/** The length of a step, and the steps before and after the present one that are accepted (RFC 6238, 5.2). */
const STEP_SECONDS = 30;
export const TOTP_DRIFT_STEPS = 1;

function generator(secret: Secret, issuer = '', label = ''): TOTP {
  return new TOTP({ issuer, label, secret, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
}

/**
 * A new TOTP seed (RFC 6238): the secret in base32 and the `otpauth:` address for a QR code. It is shown once and stored encrypted.
 * @param issuer the institution, as the authenticator application shows it
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

/** The time step that a code belongs to; undefined where no step that is accepted at this instant gives the code. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const totp = generator(Secret.fromBase32(secret));
  const drift = totp.validate({ token: code, timestamp: now.getTime(), window: TOTP_DRIFT_STEPS });
  return drift === null ? undefined : presentStep(now) + drift;
}

/** The number of the step at an instant. */
export function presentStep(now: Date): number {
  return Math.floor(now.getTime() / 1_000 / STEP_SECONDS);
}

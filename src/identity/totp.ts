import { Secret, TOTP } from 'otpauth';

/** Bytes: as long as the SHA-1 that every authenticator application computes (RFC 4226, 4). */
const SECRET_BYTES = 20;
/** Seconds of a step, and the steps before and after the present one that are accepted (RFC 6238, 5.2). */
const STEP = 30;
const DRIFT = 1;

function generator(secret: Secret, issuer = '', label = ''): TOTP {
  return new TOTP({ issuer, label, secret, algorithm: 'SHA1', digits: 6, period: STEP });
}

/**
 * A new TOTP seed (RFC 6238): the secret in base32 and the `otpauth:` address for a QR code. Shown once, kept encrypted.
 * @param issuer the institution, as the authenticator shows it
 * @param label whose it is: the contact's email
 */
export function newTotp(issuer: string, label: string): { secret: string; uri: string } {
  const secret = new Secret({ size: SECRET_BYTES });
  // A colon would end the issuer in the address (Key URI format).
  return {
    secret: secret.base32,
    uri: generator(secret, issuer.replaceAll(':', ' '), label.replaceAll(':', ' ')).toString(),
  };
}

/** The time step that a code is of, or undefined where it is none of the steps accepted at this instant. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const drift = generator(Secret.fromBase32(secret)).validate({ token: code, timestamp: now.getTime(), window: DRIFT });
  return drift === null ? undefined : presentStep(now) + drift;
}

export function presentStep(now: Date): number {
  return Math.floor(now.getTime() / 1_000 / STEP);
}

export { DRIFT as TOTP_DRIFT };

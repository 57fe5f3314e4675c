import { availableParallelism } from 'node:os';
import { Problem } from '../../values/errors.ts';
import { HashingThreads } from './hashing-threads.ts';

/** The length of a new password in characters, in NFKC. A longer one could not be typed, and would be expensive to hash. */
export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1_000;

/** One core is left for requests that need no password. */
const threads = new HashingThreads(Math.max(1, availableParallelism() - 1));

/** Gives the same text for every way in which a keyboard can compose it (NIST SP 800-63B, 3.1.1.2). */
function canonical(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Hashes a password with argon2id, outside the event loop.
 * @param password MIN_PASSWORD_LENGTH to MAX_PASSWORD_LENGTH characters
 * @param field the path of its field, for the message
 * @throws Problem invalid_body; rate_limited if too many hashes are waiting already
 */
export async function hashPassword(password: string, field = 'password'): Promise<string> {
  const text = canonical(password);
  const length = [...text].length;
  if (length < MIN_PASSWORD_LENGTH || length > MAX_PASSWORD_LENGTH) {
    throw new Problem('invalid_body', {
      field,
      message: `must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`,
    });
  }
  return threads.run({ password: text, hash: undefined });
}

/** The hash of a random text. A password is compared with it if the contact has no hash. */
let decoy: Promise<string> | undefined;

/** Starts a thread, so that the first sign-in is as fast as later ones. @returns the decoy */
export function warmUpPasswords(): Promise<string> {
  decoy ??= threads.run({ password: crypto.randomUUID(), hash: undefined });
  return decoy;
}

/**
 * Whether a password matches a hash. It takes the same time without a hash, and if the password is too long.
 * @param stored the hash; null if the contact does not exist or has no password
 * @throws Problem rate_limited if too many hashes are waiting already
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const decoyHash = await warmUpPasswords();
  const plausible = stored !== null && password.length <= 2 * MAX_PASSWORD_LENGTH;
  const against = plausible ? stored : decoyHash;
  const right = await threads.run({ password: canonical(plausible ? password : 'not the password'), hash: against });
  return plausible && right !== '';
}

import { availableParallelism } from 'node:os';
import { Problem } from '../errors.ts';
import { HashingThreads } from './hashing-threads.ts';

/** Characters (of the NFKC form) of a password that is set. A longer one could not be typed, and costs to hash. */
export const MIN_PASSWORD_LENGTH = 8;
export const MAX_PASSWORD_LENGTH = 1_000;

/** One core is left to the requests that need no password. */
const threads = new HashingThreads(Math.max(1, availableParallelism() - 1));

/** The same text for every way in which a keyboard composes it (NIST SP 800-63B, 3.1.1.2). */
function canonical(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Hashes a password with argon2id, outside the event loop.
 * @param password MIN_PASSWORD_LENGTH to MAX_PASSWORD_LENGTH characters
 * @param field its path, for the message
 * @throws Problem invalid_body; rate_limited where hundreds wait already
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
  return (await threads.run({ password: text, hash: undefined })) as string;
}

/** A hash of a text that nobody knows: what is compared where there is nothing to compare with. */
let nobodys: Promise<string | boolean> | undefined;

/** Starts the thread, so that the first sign-in is no slower than the others. */
export async function warmUpPasswords(): Promise<void> {
  nobodys ??= threads.run({ password: crypto.randomUUID(), hash: undefined });
  await nobodys;
}

/**
 * Whether a password is the one that was hashed. Takes the same time where there is no hash and where the password is too long.
 * @param stored the hash, or null where the contact has none or there is no such contact
 * @throws Problem rate_limited where hundreds wait already
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  await warmUpPasswords();
  const plausible = stored !== null && password.length <= 2 * MAX_PASSWORD_LENGTH;
  const against = plausible ? stored : ((await nobodys) as string);
  const right = await threads.run({ password: canonical(plausible ? password : 'not the password'), hash: against });
  return plausible && right === true;
}

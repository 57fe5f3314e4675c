import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { Problem } from '../errors.ts';

/** Characters (of the NFKC form) of a password that is set. A longer one could not be typed, and costs to hash. */
export const PASSWORD_LEAST = 8;
export const PASSWORD_MOST = 1_000;

/** argon2id: memory in KiB and passes, as OWASP recommends at the least; one lane. About 25 ms of a core. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes at the same time: one core is left to the requests that need no password. */
const MOST_AT_ONCE = Math.max(1, availableParallelism() - 1);
/** Hashes that wait for their turn; the next is refused, because it would wait for longer than anyone does. */
const MOST_WAITING = 400;

let busy = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (busy < MOST_AT_ONCE) busy += 1;
  else if (waiting.length < MOST_WAITING) await new Promise<void>((resolve) => waiting.push(resolve));
  else throw new Problem('rate_limited', 'too many sign-ins at once: try again in a few seconds');
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  }
}

/** The same text for every way in which a keyboard composes it (NIST SP 800-63B, 3.1.1.2). */
function canonical(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Hashes a password with argon2id, outside the event loop.
 * @param password PASSWORD_LEAST to PASSWORD_MOST characters
 * @param field its path, for the message
 * @throws Problem invalid_body
 */
export async function hashPassword(password: string, field = 'body.password'): Promise<string> {
  const text = canonical(password);
  const length = [...text].length;
  if (length < PASSWORD_LEAST || length > PASSWORD_MOST) {
    throw new Problem('invalid_body', `${field}: must have ${PASSWORD_LEAST} to ${PASSWORD_MOST} characters`);
  }
  return inTurn(() => hash(text, ARGON2));
}

/** A hash of a text that nobody knows: what is compared where there is nothing to compare with. */
let nobodys: Promise<string> | undefined;

/**
 * Whether a password is the one that was hashed. Takes the same time where there is no hash and where the password is too long.
 * @param stored the hash, or null where the contact has none or there is no such contact
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const plausible = stored !== null && password.length <= 2 * PASSWORD_MOST;
  if (nobodys === undefined) nobodys = hash(crypto.randomUUID(), ARGON2);
  const against = plausible ? stored : await nobodys;
  const text = canonical(plausible ? password : 'not the password');
  const right = await inTurn(() => verify(against, text));
  return plausible && right;
}

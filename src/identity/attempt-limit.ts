import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, first } from '../database/database.ts';
import type { Clock } from '../values/calendar.ts';
import { sha256 } from '../values/crypto.ts';
import { OAuthError } from './oauth-error.ts';

/** The number of failed attempts that are allowed in a window. The next one locks the subject for the length of the window (docs/decisions.md, 7). */
export interface AttemptLimit {
  maxFailures: number;
  windowSeconds: number;
}
export const PASSWORD_ATTEMPTS: AttemptLimit = { maxFailures: 10, windowSeconds: 900 };
/** The limit for all challenges of a contact together. Each challenge allows five attempts, and each correct password opens a new challenge. */
export const SECOND_FACTOR_ATTEMPTS: AttemptLimit = { maxFailures: 20, windowSeconds: 900 };

/** The age from which an unfinished attempt no longer counts, because its process must have died. */
const ABANDONED_AFTER_SECONDS = 15;
/** An attempt that may not begin yet tries again after one to two such steps. */
const RETRY_STEP_MS = 20;
const MAX_WAIT_MS = 10_000;

/** The subject of password attempts for an email, in PostgreSQL's lower case. */
export function passwordSubject(email: string): string {
  return `password:${email}`;
}

/** The subject of attempts at a contact's second factor. */
export function secondFactorSubject(contactId: string): string {
  return `second-factor:${contactId}`;
}

interface LimitedAttempt {
  limit: AttemptLimit;
  /** What is attempted, such as `password:someone@example.com`. Only its hash is stored. */
  subject: string;
  /** Makes the attempt and returns whether it succeeded. */
  attempt: () => Promise<boolean>;
}

/**
 * Makes an attempt under its limit, which all processes share. An attempt waits while those in flight could exhaust the limit. So parallel
 * correct attempts all succeed, and parallel wrong ones never exceed the limit.
 * @throws OAuthError temporarily_unavailable while the subject is locked, with the remaining seconds
 */
export async function limitAttempts(
  db: Db,
  clock: Clock,
  { limit, subject, attempt }: LimitedAttempt,
): Promise<boolean> {
  const key = sha256(subject);
  const id = await begin(db, clock, { limit, key });
  let succeeded: boolean;
  try {
    succeeded = await attempt();
  } catch (error) {
    // The caller learned nothing, so the attempt does not count.
    await end(db, limit, { id, key, succeeded: true, now: clock.now() });
    throw error;
  }
  await end(db, limit, { id, key, succeeded, now: clock.now() });
  return succeeded;
}

async function begin(db: Db, clock: Clock, { limit, key }: { limit: AttemptLimit; key: Buffer }): Promise<number> {
  for (let waited = 0; waited <= MAX_WAIT_MS; ) {
    const now = clock.now();
    const row = first(
      await db.query<{ attempt_id: number | null; locked_until: Date | null }>({
        name: 'begin_attempt',
        text: 'select attempt_id, locked_until from begin_attempt($1, $2, $3, make_interval(secs => $4), make_interval(secs => $5))',
        values: [key, now, limit.maxFailures, limit.windowSeconds, ABANDONED_AFTER_SECONDS],
      }),
    );
    if (row?.attempt_id != null) return row.attempt_id;
    if (row?.locked_until != null) throw locked(Math.ceil((row.locked_until.getTime() - now.getTime()) / 1_000));
    const step = RETRY_STEP_MS * (1 + Math.random());
    await sleep(step);
    waited += step;
  }
  throw locked(ABANDONED_AFTER_SECONDS);
}

async function end(
  db: Db,
  limit: AttemptLimit,
  ended: { id: number; key: Buffer; succeeded: boolean; now: Date },
): Promise<void> {
  await db.query({
    name: 'end_attempt',
    text: 'select end_attempt($1, $2, $3, $4, $5, make_interval(secs => $6))',
    values: [ended.id, ended.key, ended.succeeded, ended.now, limit.maxFailures, limit.windowSeconds],
  });
}

/** Until when a subject is locked; null if it is not. */
export async function lockedUntil(db: Db, subject: string, now: Date): Promise<Date | null> {
  const found = await db.query<{ until: Date }>('select until from attempt_locks where subject = $1 and until > $2', [
    sha256(subject),
    now,
  ]);
  return first(found)?.until ?? null;
}

/** Lifts the locks of subjects and forgets their failed attempts. */
export async function liftLocks(db: Db, subjects: string[]): Promise<void> {
  const keys = subjects.map((subject) => sha256(subject));
  await db.query('delete from attempt_locks where subject = any($1::bytea[])', [keys]);
  await db.query('delete from limited_attempts where subject = any($1::bytea[])', [keys]);
}

function locked(seconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', `too many wrong attempts: try again in ${seconds} s`, {
    retryAfter: seconds,
    refusal: 'locked',
  });
}

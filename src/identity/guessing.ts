import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../crypto.ts';
import { type Db, first } from '../database.ts';
import { OAuthError } from './oauth-error.ts';

/** How often something may be guessed: wrong guesses within a window lock it for as long as the window (docs/decisions.md, 7). */
export interface Limit {
  most: number;
  /** Seconds. */
  window: number;
}
export const PASSWORD_GUESSES: Limit = { most: 10, window: 900 };
/** Over all handles of a contact: each handle takes five (second-factor.ts), and a good password makes new ones. */
export const SECOND_FACTOR_GUESSES: Limit = { most: 20, window: 900 };

/** Seconds after which a guess that never ended counts no longer: its process is gone. */
const ABANDONED = 15;
/** Milliseconds between two tries to begin, and the longest time of trying. */
const WAIT_STEP = 20;
const MAX_WAIT = 10_000;

/**
 * Runs a guess under its limit, counted for all processes together. While so many guesses are under way that one more could be one
 * too many, it waits: parallel right guesses all succeed, parallel wrong ones never get more than the limit.
 * @param subject what is guessed, as `password:someone@example.com`; only its hash is stored
 * @param attempt tells whether the guess was right
 * @throws OAuthError temporarily_unavailable while the subject is locked, with the seconds that are left
 */
export async function guess(
  db: Db,
  limit: Limit,
  subject: string,
  clock: { now(): Date },
  attempt: () => Promise<boolean>,
): Promise<boolean> {
  const key = sha256(subject);
  const id = await begin(db, limit, key, clock);
  let right: boolean;
  try {
    right = await attempt();
  } catch (error) {
    // It told nobody anything: as if it had never been.
    await end(db, limit, key, id, true, clock.now());
    throw error;
  }
  await end(db, limit, key, id, right, clock.now());
  return right;
}

async function begin(db: Db, limit: Limit, key: Buffer, clock: { now(): Date }): Promise<number> {
  for (let waited = 0; waited <= MAX_WAIT; ) {
    const now = clock.now();
    const row = first(
      await db.query<{ guess_id: number | null; locked_until: Date | null }>({
        name: 'begin_guess',
        text: 'select guess_id, locked_until from begin_guess($1, $2, $3, make_interval(secs => $4), make_interval(secs => $5))',
        values: [key, now, limit.most, limit.window, ABANDONED],
      }),
    );
    if (row?.guess_id != null) return row.guess_id;
    if (row?.locked_until != null) throw locked(Math.ceil((row.locked_until.getTime() - now.getTime()) / 1_000));
    const step = WAIT_STEP * (1 + Math.random());
    await sleep(step);
    waited += step;
  }
  throw locked(ABANDONED);
}

async function end(db: Db, limit: Limit, key: Buffer, id: number, right: boolean, now: Date): Promise<void> {
  await db.query({
    name: 'end_guess',
    text: 'select end_guess($1, $2, $3, $4, $5, make_interval(secs => $6))',
    values: [id, key, right, now, limit.most, limit.window],
  });
}

function locked(seconds: number): OAuthError {
  return new OAuthError('temporarily_unavailable', `too many wrong attempts: try again in ${seconds} s`, {
    retryAfter: seconds,
    refusal: 'locked',
  });
}

import type { Context } from '../context.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { Periodic } from '../process/periodic.ts';
import type { Vault } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';

/** Hours for which an answer is kept (docs/operator-interface.md, Idempotency-Key). */
const IDEMPOTENCY_HOURS = 24;
/** Characters of a key. */
export const MAX_IDEMPOTENCY_KEY = 255;

const HOUR_MS = 3_600_000;
const CLEAR_INTERVAL_MS = 600_000;

/** A request that carries an Idempotency-Key. */
export interface KeyedRequest {
  key: string;
  /** Hash of what makes it the same request: method, address and body. */
  sha256: Buffer;
}

export interface StoredAnswer {
  status: number;
  body: string;
  /** In addition to those that every answer has. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Until when it is kept under its key; default: as long as the others. */
  expiresAt?: Date | undefined;
}

/**
 * Claims a key in the caller's transaction. Of two requests at once, the second waits until the first has committed (the unique index
 * makes it wait), and then gets the first one's answer. When the first rolled back, the second runs.
 * @returns the stored answer of the same request, or undefined: run, then `storeAnswer`
 * @throws Problem idempotency_conflict where the key was used with another request
 */
export async function claimKey(
  tx: Transaction,
  vault: Vault,
  request: KeyedRequest,
  now: Date,
): Promise<StoredAnswer | undefined> {
  if (await insertKey(tx, request, now)) return undefined;
  const known = await findAnswer(tx, vault, request.key, now);
  checkSameRequest(known, request.sha256);
  return known;
}

/** Inserts a key, unless there is one that has not expired. @returns whether it was inserted */
export async function insertKey(tx: Transaction, { key, sha256 }: KeyedRequest, now: Date): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'idempotency-claim',
    text: `insert into idempotency_keys as k (key, request_sha256, created_at) values ($1, $2, $3)
      on conflict (key) do update set request_sha256 = $2, created_at = $3, status = null, body = null, headers = null, expires_at = null
        where k.created_at < $4 or k.expires_at <= $3
      returning key`,
    values: [key, sha256, now, oldest(now)],
  });
  return rows.length > 0;
}

/** What is stored under a key: the hash of its request, and the answer where the request has ended. */
export async function findAnswer(
  db: Db,
  vault: Vault,
  key: string,
  now: Date,
): Promise<(StoredAnswer & { sha256: Buffer }) | undefined> {
  const row = first(
    await db.query<{
      sha256: Buffer;
      status: number | null;
      body: Buffer | null;
      headers: Record<string, string> | null;
    }>({
      name: 'idempotency-find',
      text: `select request_sha256 as sha256, status, body, headers from idempotency_keys
        where key = $1 and created_at >= $2 and (expires_at is null or expires_at > $3)`,
      values: [key, oldest(now), now],
    }),
  );
  if (!row) return undefined;
  const { sha256, status, body, headers } = row;
  return { sha256, status: status ?? 200, body: body ? vault.open(body, PURPOSE) : '', headers: headers ?? undefined };
}

/** @throws Problem idempotency_conflict where a stored answer belongs to another request */
export function checkSameRequest(known: { sha256: Buffer } | undefined, sha256: Buffer): void {
  if (!known?.sha256.equals(sha256)) {
    throw new Problem('idempotency_conflict', {
      field: 'Idempotency-Key',
      message: 'was used with another request within the last 24 hours',
    });
  }
}

/** What answers are encrypted for: they can contain a secret that is shown once (docs/decisions.md, 7). */
const PURPOSE = 'idempotency_answer';

/** Stores the answer of a request whose key is claimed. */
export function storeAnswer(tx: Transaction, vault: Vault, request: KeyedRequest, answer: StoredAnswer): void {
  tx.later({
    name: 'idempotency-answer',
    text: `update idempotency_keys set request_sha256 = $2, status = $3, body = $4, headers = $5, expires_at = $6
      where key = $1`,
    values: [
      request.key,
      request.sha256,
      answer.status,
      vault.seal(answer.body, PURPOSE),
      answer.headers ? JSON.stringify(answer.headers) : null,
      answer.expiresAt ?? null,
    ],
  });
}

/**
 * Forgets the answers that the contacts of a client got, but for those of the sandbox itself: their keys are free again.
 * @param tx in which the records that the answers name are removed
 */
export function forgetAnswers(tx: Transaction, clientId: string): void {
  tx.later({
    text: `delete from idempotency_keys where starts_with(key, $1) and split_part(key, E'\\n', 3) not like 'POST /sandbox/%'`,
    values: [`${clientId}\n`],
  });
}

/** Frees keys that the transaction has claimed, of requests that are refused while others of the transaction are not. */
export function freeKeys(tx: Transaction, keys: readonly string[]): void {
  if (keys.length > 0)
    tx.later({ name: 'idempotency-free', text: 'delete from idempotency_keys where key = any($1)', values: [keys] });
}

/** Deletes the answers that have expired. */
export function createAnswerClearing({ backgroundPool, clock, log }: Context): Periodic {
  return new Periodic({
    name: 'idempotency answers',
    intervalMs: CLEAR_INTERVAL_MS,
    log,
    run: async () => {
      const now = clock.now();
      const text = 'delete from idempotency_keys where created_at < $1 or expires_at <= $2';
      await backgroundPool.query(text, [oldest(now), now]);
    },
  });
}

/** The earliest moment of a key that has not expired. */
function oldest(now: Date): Date {
  return new Date(now.getTime() - IDEMPOTENCY_HOURS * HOUR_MS);
}

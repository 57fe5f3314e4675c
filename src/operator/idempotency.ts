import type { Context } from '../context.ts';
import { type Db, first, type Transaction, together } from '../database/database.ts';
import { Periodic } from '../process/periodic.ts';
import type { Vault } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';

/** Hours for which an answer is kept (docs/operator-interface.md, Idempotency-Key). */
const IDEMPOTENCY_HOURS = 24;
/** The most characters of a key. */
export const MAX_IDEMPOTENCY_KEY = 255;

const HOUR_MS = 3_600_000;
const CLEAR_INTERVAL_MS = 600_000;

/** A request that carries an Idempotency-Key. */
export interface KeyedRequest {
  key: string;
  /** A hash of what identifies the request: method, address and body. */
  sha256: Buffer;
}

export interface StoredAnswer {
  status: number;
  body: string;
  /** Headers besides those that every answer has. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Until when it is kept under its key; by default as long as any other. */
  expiresAt?: Date | undefined;
}

/**
 * Claims a key in the caller's transaction. If two requests come at once, the second waits at the unique index until the first has
 * committed, and then gets the first one's answer. If the first rolled back, the second runs. The answer is asked for at the same time as
 * the claim, before whatever the caller sends next: a statement of the work that fails would keep it from being read afterwards.
 * @returns the stored answer of the same request; undefined: run the request, then call `storeAnswer`
 * @throws Problem idempotency_conflict if the key was used with another request
 */
export async function claimKey(
  tx: Transaction,
  vault: Vault,
  request: KeyedRequest,
  now: Date,
): Promise<StoredAnswer | undefined> {
  const [claimed, known] = await together([insertKey(tx, request, now), findAnswer(tx, vault, request.key, now)]);
  if (claimed) return undefined;
  checkSameRequest(known, request.sha256);
  return known;
}

/** Inserts a key, unless an unexpired one exists. @returns whether it was inserted */
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

/** What is stored under a key: the hash of its request, and the answer if the request has ended. */
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

/** @throws Problem idempotency_conflict if a stored answer belongs to another request */
export function checkSameRequest(known: { sha256: Buffer } | undefined, sha256: Buffer): void {
  if (!known?.sha256.equals(sha256)) {
    throw new Problem('idempotency_conflict', {
      field: 'Idempotency-Key',
      message: 'was used with another request within the last 24 hours',
    });
  }
}

/** The purpose for which answers are encrypted. They can contain a secret that is shown once (docs/decisions.md, 7). */
const PURPOSE = 'idempotency_answer';

/** Stores the answer to a request whose key is claimed. */
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
 * Forgets the answers that the contacts of a client got, except those of the sandbox itself. Their keys are free again.
 * @param tx in which the records that the answers name are removed
 */
export function forgetAnswers(tx: Transaction, clientId: string): void {
  tx.later({
    text: `delete from idempotency_keys where starts_with(key, $1) and split_part(key, E'\\n', 3) not like 'POST /sandbox/%'`,
    values: [`${clientId}\n`],
  });
}

/** Frees keys that the transaction has claimed, for requests that are refused while others in the transaction are not. */
export function freeKeys(tx: Transaction, keys: readonly string[]): void {
  if (keys.length > 0)
    tx.later({ name: 'idempotency-free', text: 'delete from idempotency_keys where key = any($1)', values: [keys] });
}

/** Deletes expired answers. */
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

/** Keys from before this moment have expired. */
function oldest(now: Date): Date {
  return new Date(now.getTime() - IDEMPOTENCY_HOURS * HOUR_MS);
}

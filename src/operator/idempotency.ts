import type { Vault } from '../crypto.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';

/** Hours for which an answer is kept (docs/operator-interface.md, Idempotency-Key). */
export const IDEMPOTENCY_HOURS = 24;
export const MAX_IDEMPOTENCY_KEY = 255;

export interface StoredAnswer {
  status: number;
  body: string;
}

/**
 * Claims a key in the caller's transaction. Of two requests at once, the second waits here until the first has committed
 * (the unique index makes it wait) and then gets the first one's answer; when the first rolled back, the second runs.
 * @returns the stored answer of the same request, or undefined: run, then `storeAnswer`
 * @throws Problem idempotency_conflict where the key was used with another request
 */
export async function claimKey(
  tx: Transaction,
  vault: Vault,
  key: string,
  requestSha256: Buffer,
  now: Date,
): Promise<StoredAnswer | undefined> {
  const oldest = new Date(now.getTime() - IDEMPOTENCY_HOURS * 3_600_000);
  await tx.query('delete from idempotency_keys where key = $1 and created_at < $2', [key, oldest]);
  const claimed = await tx.query(
    'insert into idempotency_keys (key, request_sha256, created_at) values ($1, $2, $3) on conflict (key) do nothing returning key',
    [key, requestSha256, now],
  );
  if (claimed.rows.length === 1) return undefined;
  const { rows } = await tx.query<{ request_sha256: Buffer; status: number | null; body: Buffer | null }>(
    'select request_sha256, status, body from idempotency_keys where key = $1',
    [key],
  );
  const known = rows[0];
  if (!known?.request_sha256.equals(requestSha256)) {
    throw new Problem('idempotency_conflict', {
      field: 'Idempotency-Key',
      message: 'was used with another request within the last 24 hours',
    });
  }
  return { status: known.status ?? 200, body: openAnswer(vault, known.body) };
}

const PURPOSE = 'idempotency_answer';

/** An answer as it is kept: encrypted, since it can hold a secret that is shown once (docs/decisions.md, 7). */
export function sealAnswer(vault: Vault, body: string): Buffer {
  return vault.seal(body, PURPOSE);
}

export function openAnswer(vault: Vault, kept: Buffer | null): string {
  return kept === null ? '' : vault.open(kept, PURPOSE);
}

/** Keeps the answer of a claimed key, in the same transaction. */
export async function storeAnswer(tx: Transaction, vault: Vault, key: string, answer: StoredAnswer): Promise<void> {
  await tx.query('update idempotency_keys set status = $2, body = $3 where key = $1', [
    key,
    answer.status,
    sealAnswer(vault, answer.body),
  ]);
}

/** Forgets the answers that nobody may ask for again; the worker calls it. */
export async function forgetAnswers(
  tx: { query(text: string, values: unknown[]): Promise<unknown> },
  now: Date,
): Promise<void> {
  await tx.query('delete from idempotency_keys where created_at < $1', [
    new Date(now.getTime() - IDEMPOTENCY_HOURS * 3_600_000),
  ]);
}

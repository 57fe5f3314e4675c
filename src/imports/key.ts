import type { Vault } from '../crypto.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { LOCKS } from '../locks.ts';
import { IDEMPOTENCY_HOURS, openAnswer, type StoredAnswer, sealAnswer } from '../operator/idempotency.ts';

/** Stands for the hash of a request whose body is not known to its end yet; equals no SHA-256 of anything. */
const UNDER_WAY = Buffer.alloc(32);

/**
 * Claims an idempotency key for an import, on the connection that the import uses. The body is a stream and the batches are
 * transactions of their own, so that the claim cannot be one: a session lock says who is under way, and ends with the connection.
 * Of two at once the second waits for the first. An import that broke off leaves no answer; its key is free again.
 * @returns the answer that is stored, with the hash of its request, or undefined: run, then `finishImport`
 */
export async function claimImport(
  connection: Transaction,
  vault: Vault,
  key: string,
  now: Date,
): Promise<(StoredAnswer & { requestSha256: Buffer }) | undefined> {
  await connection.query('select pg_advisory_lock($1, hashtext($2))', [LOCKS.importKey, key]);
  await connection.query('delete from idempotency_keys where key = $1 and created_at < $2', [
    key,
    new Date(now.getTime() - IDEMPOTENCY_HOURS * 3_600_000),
  ]);
  await connection.query(
    'insert into idempotency_keys (key, request_sha256, created_at) values ($1, $2, $3) on conflict (key) do nothing',
    [key, UNDER_WAY, now],
  );
  const { rows } = await connection.query<{ request_sha256: Buffer; status: number | null; body: Buffer | null }>(
    'select request_sha256, status, body from idempotency_keys where key = $1',
    [key],
  );
  const known = rows[0];
  if (!known || known.request_sha256.equals(UNDER_WAY)) return undefined;
  return { status: known.status ?? 200, body: openAnswer(vault, known.body), requestSha256: known.request_sha256 };
}

/** Keeps the answer of an import that came to its end. */
export async function finishImport(
  connection: Transaction,
  vault: Vault,
  key: string,
  requestSha256: Buffer,
  answer: StoredAnswer,
): Promise<void> {
  await connection.query('update idempotency_keys set request_sha256 = $2, status = $3, body = $4 where key = $1', [
    key,
    requestSha256,
    answer.status,
    sealAnswer(vault, answer.body),
  ]);
}

/** Lets go of a key: of one without an answer nothing stays. */
export async function releaseImport(connection: Transaction, key: string): Promise<void> {
  await connection.query('delete from idempotency_keys where key = $1 and request_sha256 = $2 and status is null', [
    key,
    UNDER_WAY,
  ]);
  await connection.query('select pg_advisory_unlock($1, hashtext($2))', [LOCKS.importKey, key]);
}

/** @throws Problem idempotency_conflict where a stored answer belongs to another request */
export function sameRequest(known: { requestSha256: Buffer }, requestSha256: Buffer): void {
  if (!known.requestSha256.equals(requestSha256)) {
    throw new Problem('idempotency_conflict', {
      field: 'Idempotency-Key',
      message: 'was used with another request within the last 24 hours',
    });
  }
}

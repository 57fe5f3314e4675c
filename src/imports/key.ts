import type { Vault } from '../crypto.ts';
import type { Transaction } from '../database.ts';
import { LOCKS } from '../locks.ts';
import { findAnswer, insertKey, type StoredAnswer } from '../operator/idempotency.ts';

/** In place of the hash of a request whose body has not been read to its end; equals no SHA-256. */
const IN_FLIGHT = Buffer.alloc(32);

/**
 * Claims an idempotency key for an import, on the connection that the import uses. The body is a stream, and each batch is a
 * transaction of its own, so the claim cannot be in the same transaction as the work. A session lock tells that the import is in
 * flight, and ends with the connection. Of two at once, the second waits for the first. An import that was cut off leaves no answer;
 * its key is free again.
 * @returns the stored answer, with the hash of its request; or undefined: run, then `storeAnswer`
 */
export async function claimImport(
  connection: Transaction,
  vault: Vault,
  key: string,
  now: Date,
): Promise<(StoredAnswer & { sha256: Buffer }) | undefined> {
  await connection.query('select pg_advisory_lock($1, hashtext($2))', [LOCKS.importKey, key]);
  await insertKey(connection, { key, sha256: IN_FLIGHT }, now);
  const known = await findAnswer(connection, vault, key);
  return known?.sha256.equals(IN_FLIGHT) ? undefined : known;
}

/** Releases a key; without an answer, nothing of it stays. */
export async function releaseImport(connection: Transaction, key: string): Promise<void> {
  await connection.query('delete from idempotency_keys where key = $1 and request_sha256 = $2 and status is null', [
    key,
    IN_FLIGHT,
  ]);
  await connection.query('select pg_advisory_unlock($1, hashtext($2))', [LOCKS.importKey, key]);
}

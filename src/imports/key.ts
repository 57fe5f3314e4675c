import type { Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { findAnswer, insertKey, type StoredAnswer } from '../operator/idempotency.ts';
import type { Vault } from '../values/crypto.ts';

/** Replaces the hash of a request that has not ended. It equals no SHA-256. */
const IN_FLIGHT = Buffer.alloc(32);

/** What is stored for a key after an import has claimed it. */
export interface Claim {
  /** The answer of a request that has ended, with the hash of that request. */
  answer: (StoredAnswer & { sha256: Buffer }) | undefined;
  /** Whether an import was sent with it before. */
  known: boolean;
}

/**
 * Claims an idempotency key for an import, on the connection that the import uses. The body is a stream, and each batch is a transaction of
 * its own, so the claim cannot be in the same transaction as the work. Instead a session lock shows that the import is running; it ends
 * with the connection. If two come at once, the second waits for the first. An import that was interrupted keeps its key, and continues
 * when it is sent again.
 */
export async function claimImport(
  connection: Transaction,
  vault: Vault,
  { key, now }: { key: string; now: Date },
): Promise<Claim> {
  await connection.query('select pg_advisory_lock($1, hashtext($2))', [LOCKS.importKey, key]);
  if (await insertKey(connection, { key, sha256: IN_FLIGHT }, now)) return { answer: undefined, known: false };
  const answer = await findAnswer(connection, vault, key, now);
  if (!answer?.sha256.equals(IN_FLIGHT)) return { answer, known: true };
  return { answer: undefined, known: true };
}

/** Releases the key for others. */
export async function releaseImport(connection: Transaction, key: string): Promise<void> {
  await connection.query('select pg_advisory_unlock($1, hashtext($2))', [LOCKS.importKey, key]);
}

import { verify, type X509Certificate } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type RevocationList, readRevocationLists } from './revocation-list-reader.ts';

export type { RevocationList } from './revocation-list-reader.ts';

/** Bytes of a file of lists; 16 MiB hold about 400,000 revoked certificates. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** From this size on a list is read in a thread of its own: 50,000 entries would stop the service for seconds. */
const THREAD_FROM_BYTES = 32 * 1024;

/** Issuers remembered for a list; strangers can present any number of certificates with the name of an authority. */
const MAX_REMEMBERED_ISSUERS = 16;

const verified = new WeakMap<RevocationList, Map<string, boolean>>();

/**
 * Reads a file of revocation lists.
 * @param pem one or more `X509 CRL` blocks
 * @throws Error saying what is wrong with the list: unreadable, without `nextUpdate`, indirect, delta, or with a critical
 *   extension that is not understood. Such a list must not be taken for a complete one.
 */
export async function loadRevocationLists(pem: string): Promise<RevocationList[]> {
  if (pem.length > MAX_LIST_BYTES) throw new Error(`a revocation list has at most ${MAX_LIST_BYTES} bytes`);
  if (pem.length < THREAD_FROM_BYTES) return readRevocationLists(pem);
  const worker = new Worker(new URL('./revocation-list-thread.ts', import.meta.url), { workerData: pem });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: RevocationList[] | string) =>
      Array.isArray(answer) ? resolve(answer) : reject(new Error(answer)),
    );
    worker.once('error', reject);
  });
}

/** Whether a list was signed with the key of this certificate. Remembered, because the answer never changes. */
export function signedBy(list: RevocationList, issuer: X509Certificate): boolean {
  const known = verified.get(list) ?? new Map<string, boolean>();
  verified.set(list, known);
  const before = known.get(issuer.fingerprint256);
  if (before !== undefined) return before;
  let good = false;
  try {
    good = verify(list.digest, list.signed, issuer.publicKey, list.signature);
  } catch {
    // A key of another kind than the signature's.
  }
  if (known.size < MAX_REMEMBERED_ISSUERS) known.set(issuer.fingerprint256, good);
  return good;
}

import { verify, type X509Certificate } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { type RevocationList, readRevocationLists } from './revocation-list-reader.ts';

export type { RevocationList } from './revocation-list-reader.ts';

/** The most bytes of a file of lists. 16 MiB hold about 400,000 revoked certificates. */
const MAX_LIST_BYTES = 16 * 1024 * 1024;
/** Larger lists are read in a thread of their own, because 50,000 entries would block the service for seconds. */
const MAX_INLINE_BYTES = 32 * 1024;

/** The number of issuers that are cached for a list. Anybody can present any number of certificates with the name of an authority. */
const MAX_CACHED_ISSUERS = 16;

const verified = new WeakMap<RevocationList, Map<string, boolean>>();

/**
 * Reads a file of revocation lists.
 * @param pem one or more `X509 CRL` blocks
 * @throws Error that says what is wrong with a list: it is malformed, has no `nextUpdate`, is indirect or a delta, or has an unsupported
 * critical extension. Such a list must not be used as a complete one.
 */
export async function loadRevocationLists(pem: string): Promise<RevocationList[]> {
  if (pem.length > MAX_LIST_BYTES) throw new Error(`a revocation list must have at most ${MAX_LIST_BYTES} bytes`);
  if (pem.length < MAX_INLINE_BYTES) return readRevocationLists(pem);
  const worker = new Worker(new URL('./revocation-list-thread.ts', import.meta.url), { workerData: pem });
  return new Promise((resolve, reject) => {
    worker.once('message', (answer: RevocationList[] | string) =>
      Array.isArray(answer) ? resolve(answer) : reject(new Error(answer)),
    );
    worker.once('error', reject);
  });
}

/** Whether a list was signed with the key of this certificate. Cached, because the answer never changes. */
export function signedBy(list: RevocationList, issuer: X509Certificate): boolean {
  const cache = verified.get(list) ?? new Map<string, boolean>();
  verified.set(list, cache);
  const cached = cache.get(issuer.fingerprint256);
  if (cached !== undefined) return cached;
  let good = false;
  try {
    good = verify(list.digest, list.signed, issuer.publicKey, list.signature);
  } catch {
    // The key is of a different kind than the signature.
  }
  if (cache.size < MAX_CACHED_ISSUERS) cache.set(issuer.fingerprint256, good);
  return good;
}

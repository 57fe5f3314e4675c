import { hash } from 'node:crypto';
import { BoundedMap } from '../../values/bounded-map.ts';

/**
 * HMAC (RFC 2104) built from one-shot hashes. In the engine, the library's `createHmac` costs 45 us more for the two signatures of a
 * notification (2 us in an idle process). Each call leaves an object that the garbage collector has to finalise.
 */

/** The block size of each hash in bytes (FIPS 202, table 3; FIPS 180-4, figure 1). */
const BLOCK_BYTES = { 'sha3-256': 136, sha256: 64 } as const;
export type HmacHash = keyof typeof BLOCK_BYTES;

/** The size of a digest of either hash in bytes. */
const DIGEST_BYTES = 32;

/** Messages up to this size are assembled in one shared buffer. A buffer for each would cost more than its hash. */
const SCRATCH_BYTES = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
/** The most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** The number of keys whose pads are remembered, for each hash. */
const MAX_KEYS = 20_000;

interface Pads {
  inner: Buffer;
  /** The outer pad, with room for the inner digest after it. */
  outer: Buffer;
}
const remembered: Record<HmacHash, BoundedMap<string, Pads>> = {
  'sha3-256': new BoundedMap(MAX_KEYS),
  sha256: new BoundedMap(MAX_KEYS),
};

/**
 * @param name under which the key is remembered;
 * @param key returns its bytes, and is called only if it is new
 */
function padsOf(algorithm: HmacHash, name: string, key: () => Buffer): Pads {
  const pads = remembered[algorithm];
  const known = pads.get(name);
  if (known) return known;
  const size = BLOCK_BYTES[algorithm];
  const secret = key();
  const bytes = secret.length > size ? hash(algorithm, secret, 'buffer') : secret;
  const inner = Buffer.alloc(size, 0x36);
  const outer = Buffer.alloc(size + DIGEST_BYTES, 0x5c);
  for (const [at, byte] of bytes.entries()) {
    inner[at] = 0x36 ^ byte;
    outer[at] = 0x5c ^ byte;
  }
  const made = { inner, outer };
  pads.set(name, made);
  return made;
}

/**
 * The HMAC of a prefix directly followed by a body. Its parameters are positional, because it runs twice for each delivery.
 * @param secret the key as text; its bytes are `key(secret)`
 */
export function hmac(
  algorithm: HmacHash,
  secret: string,
  key: (secret: string) => Buffer,
  prefix: string,
  body: string | Buffer,
  encoding: 'hex' | 'base64',
): string {
  const { inner, outer } = padsOf(algorithm, secret, () => key(secret));
  const maxBytes = inner.length + MAX_UNIT_BYTES * (prefix.length + body.length);
  const message = maxBytes <= scratch.length ? scratch : Buffer.allocUnsafe(maxBytes);
  inner.copy(message);
  let end = inner.length;
  end += message.write(prefix, end, 'utf8');
  end += typeof body === 'string' ? message.write(body, end, 'utf8') : body.copy(message, end);
  hash(algorithm, message.subarray(0, end), 'buffer').copy(outer, inner.length);
  return hash(algorithm, outer, encoding);
}

import { hash } from 'node:crypto';
import { BoundedMap } from '../bounded-map.ts';

/**
 * HMAC (RFC 2104) put together from one-shot hashes. In the engine the library's `createHmac` costs 45 us more for a notification with its two
 * signatures (in a process that does nothing else, 2): each leaves an object behind that the collector has to finalise.
 */

/** Bytes of a block of each hash (FIPS 202, table 3; FIPS 180-4, figure 1). */
const BLOCKS = { 'sha3-256': 136, sha256: 64 } as const;
export type HmacHash = keyof typeof BLOCKS;

/** Bytes of a digest of either hash. */
const DIGEST = 32;

/** Where messages up to this many bytes are put together: a buffer for each would cost more than its hash. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);
/** Bytes of UTF-8 that a UTF-16 unit takes at most. */
const WIDEST = 3;

/** Keys whose pads are remembered at most, of each hash. */
const MAX_KEYS = 20_000;

interface Pads {
  inner: Buffer;
  /** The outer pad, with room for the inner digest behind it. */
  outer: Buffer;
}
const remembered: Record<HmacHash, BoundedMap<string, Pads>> = {
  'sha3-256': new BoundedMap(MAX_KEYS),
  sha256: new BoundedMap(MAX_KEYS),
};

/** @param name what the key is remembered by; @param key its bytes, asked for only when it is new */
function padsOf(algorithm: HmacHash, name: string, key: () => Buffer): Pads {
  const pads = remembered[algorithm];
  const known = pads.get(name);
  if (known) return known;
  const size = BLOCKS[algorithm];
  const given = key();
  const bytes = given.length > size ? hash(algorithm, given, 'buffer') : given;
  const inner = Buffer.alloc(size, 0x36);
  const outer = Buffer.alloc(size + DIGEST, 0x5c);
  for (const [at, byte] of bytes.entries()) {
    inner[at] = 0x36 ^ byte;
    outer[at] = 0x5c ^ byte;
  }
  const made = { inner, outer };
  pads.set(name, made);
  return made;
}

/**
 * The HMAC of a prefix directly followed by a body.
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
  const most = inner.length + WIDEST * (prefix.length + body.length);
  const message = most <= scratch.length ? scratch : Buffer.allocUnsafe(most);
  inner.copy(message);
  let end = inner.length;
  end += message.write(prefix, end, 'utf8');
  end += typeof body === 'string' ? message.write(body, end, 'utf8') : body.copy(message, end);
  hash(algorithm, message.subarray(0, end), 'buffer').copy(outer, inner.length);
  return hash(algorithm, outer, encoding);
}

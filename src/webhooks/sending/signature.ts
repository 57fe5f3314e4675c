import { hmac } from './hmac.ts';

/** After this prefix, a secret is base64, in the form that Standard Webhooks uses for keys. */
const STANDARD_PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The value of X-<Brand>-Signature: `sha3-256=` and the hex HMAC (SHA3-256) over the URL as it was registered, directly followed by the
 * body (service interface, Request headers of every notification).
 * @param secret the subscription's; the empty text if none is set
 */
export function signature(secret: string, url: string, body: string | Buffer): string {
  return `sha3-256=${hmac('sha3-256', secret, utf8, url, body, 'hex')}`;
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0): one `v1,<base64 HMAC-SHA256>` for each secret, separated by a space.
 * @param message `id` and `timestamp` (seconds since 1970) as sent in `webhook-id` and `webhook-timestamp`
 */
export function standardSignature(
  secrets: readonly string[],
  message: { id: string; timestamp: number; body: string | Buffer },
): string {
  const prefix = `${message.id}.${message.timestamp}.`;
  return secrets.map((secret) => `v1,${hmac('sha256', secret, standardKey, prefix, message.body, 'base64')}`).join(' ');
}

function utf8(secret: string): Buffer {
  return Buffer.from(secret, 'utf8');
}

/** The bytes of a secret: decoded if it is written as `whsec_<base64>`, and otherwise its UTF-8. */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith(STANDARD_PREFIX) ? secret.slice(STANDARD_PREFIX.length) : '';
  return BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : utf8(secret);
}

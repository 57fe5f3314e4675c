import { hmacSha3 } from './sha3.ts';

/** After this prefix, a secret is base64, as Standard Webhooks writes keys. */
const STANDARD_PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** The value of X-<Brand>-Signature: HMAC-SHA3-256 over the URL, directly followed by the body. */
export function interfaceSignature(secret: string, url: string, body: Uint8Array): string {
  const mac = hmacSha3(utf8(secret), utf8(url), body);
  return `sha3-256=${Array.from(mac, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** One entry of `webhook-signature` (Standard Webhooks 1.0): HMAC-SHA256 over id, time and body. */
export async function standardSignature(
  secret: string,
  id: string,
  timestamp: string,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const secretBytes = standardKey(secret);
  // HMAC pads a key with zeros. So one zero byte is the same as the empty key, which WebCrypto refuses.
  const bytes = secretBytes.length === 0 ? new Uint8Array(1) : secretBytes;
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const prefix = utf8(`${id}.${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, message));
  return `v1,${btoa(String.fromCharCode(...mac))}`;
}

function standardKey(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.startsWith(STANDARD_PREFIX)
    ? secret.slice(STANDARD_PREFIX.length).replace(/(?<!=)=+$/, '')
    : '';
  // Four characters encode three bytes; a single leftover character encodes none.
  const whole = encoded.length % 4 === 1 ? encoded.slice(0, -1) : encoded;
  if (!BASE64.test(whole)) return utf8(secret);
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0));
}

/** Takes the same time wherever two texts of equal length differ. */
export function constantTimeEqual(expected: string, given: string): boolean {
  if (expected.length !== given.length) return false;
  let difference = 0;
  for (let i = 0; i < expected.length; i += 1) difference |= expected.charCodeAt(i) ^ given.charCodeAt(i);
  return difference === 0;
}

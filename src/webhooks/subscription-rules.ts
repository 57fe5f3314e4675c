import { Problem } from '../values/errors.ts';
import { isOneOf } from '../values/unknown.ts';
import { WEBHOOK_TYPES, type WebhookType } from './notification.ts';

/** A header that is added to every notification of a subscription. */
export interface ExtraHeader {
  name: string;
  value: string;
}

/** The most characters of a URL (docs/decisions.md, 6). */
const MAX_URL_CHARACTERS = 2_048;
/** Limits from the service interface, Custom header rules. */
const MAX_EXTRA_HEADERS = 5;
const MAX_HEADER_NAME_CHARACTERS = 128;
const MAX_HEADER_VALUE_CHARACTERS = 256;
const MAX_SECRET_CHARACTERS = 1_024;
/** How long a former secret may still sign after a rotation: 30 days. */
export const MAX_OVERLAP_SECONDS = 30 * 86_400;

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** ISO 8859-1 without control characters, which is all that a header can carry. */
const HEADER_VALUE = /^[\x20-\x7e\xa0-\xff]*$/;
/** Refused in a URL: white space, control characters, backslashes (which some parsers take for slashes), and lone surrogates. */
const REFUSED_CHARACTERS = /[\p{Cc}\p{Z}\p{Cs}\\]/u;
/** The host must begin right after two slashes. Parsers that guess where it begins guess differently. */
const AUTHORITY = /^[a-z]+:\/\/([^/?#]+)/i;

/**
 * Checks the address of a receiver (docs/decisions.md, 6): https, or http in the sandbox; no credentials, no fragment. The resolved IP
 * address is checked at every attempt.
 * @param field the beginning of the Problem's details, such as `input.subscription.url`
 * @returns the text as given, because the signature covers it byte for byte
 */
export function checkUrl(text: string, options: { sandbox: boolean }, field = 'url'): string {
  const refuse = (must: string) => new Problem('invalid_body', { field, message: must });
  if (text.length > MAX_URL_CHARACTERS) throw refuse(`must have at most ${MAX_URL_CHARACTERS} characters`);
  if (REFUSED_CHARACTERS.test(text) || !URL.canParse(text))
    throw refuse('must be an absolute URL, without white space or backslashes');
  const { protocol, port, hash } = new URL(text);
  const authority = AUTHORITY.exec(text)?.[1];
  if (protocol !== 'https:' && !(options.sandbox && protocol === 'http:')) {
    throw refuse(options.sandbox ? 'must begin with https:// or http://' : 'must begin with https://');
  }
  if (authority === undefined) throw refuse('must name a host after ://');
  if (port === '0') throw refuse('must not have the port 0');
  if (authority.includes('@')) throw refuse('must not contain a user name or password');
  if (hash || text.includes('#')) throw refuse('must not have a fragment');
  return text;
}

/** Checks the types of a subscription and removes repetitions. An empty list is valid: nothing is sent. */
export function checkTypes(types: readonly string[], field = 'types'): WebhookType[] {
  const checked = new Set<WebhookType>();
  for (const [index, type] of types.entries()) {
    if (!isOneOf(WEBHOOK_TYPES, type)) {
      throw new Problem('invalid_body', {
        field: `${field}[${index}]`,
        message: `must be one of ${WEBHOOK_TYPES.join(', ')}`,
      });
    }
    checked.add(type);
  }
  return [...checked];
}

/** Checks a signing key. Null, undefined and the empty text all mean that there is no key, which is returned as null. */
export function checkSecret(secret: string | null | undefined, field = 'secret'): string | null {
  if (!secret) return null;
  if (secret.length > MAX_SECRET_CHARACTERS)
    throw new Problem('invalid_body', { field, message: `must have at most ${MAX_SECRET_CHARACTERS} characters` });
  if (!secret.isWellFormed()) throw new Problem('invalid_body', { field, message: 'must be valid Unicode' });
  return secret;
}

/**
 * Checks custom headers (service interface, Custom header rules; docs/decisions.md, 6). At most 5 are allowed. The name begins with `x-`
 * and has up to 128 characters; the value has up to 256. The service's own headers and control characters are refused.
 * @param brand LOMBARD_BRAND, which is part of the names of the service's own headers
 */
export function checkExtraHeaders(
  headers: readonly ExtraHeader[],
  brand: string,
  field = 'extraHeaders',
): ExtraHeader[] {
  if (headers.length > MAX_EXTRA_HEADERS)
    throw new Problem('invalid_body', { field, message: `must have at most ${MAX_EXTRA_HEADERS} headers` });
  const own = new Set(ownHeaderNames(brand).map((name) => name.toLowerCase()));
  const names = new Set<string>();
  return headers.map(({ name, value }, index) => {
    const refuse = (part: 'name' | 'value', must: string) =>
      new Problem('invalid_body', { field: `${field}[${index}].${part}`, message: must });
    const lower = name.toLowerCase();
    if (!lower.startsWith('x-')) throw refuse('name', 'must begin with `x-`');
    if (name.length > MAX_HEADER_NAME_CHARACTERS)
      throw refuse('name', `must have at most ${MAX_HEADER_NAME_CHARACTERS} characters`);
    if (!HEADER_NAME.test(name))
      throw refuse('name', 'must consist of the characters of a header name (letters, digits, - and _)');
    if (own.has(lower)) throw refuse('name', 'must not be a header that the service sets itself');
    if (names.has(lower)) throw refuse('name', 'must not be given twice');
    names.add(lower);
    if (value.length > MAX_HEADER_VALUE_CHARACTERS)
      throw refuse('value', `must have at most ${MAX_HEADER_VALUE_CHARACTERS} characters`);
    if (!HEADER_VALUE.test(value)) throw refuse('value', 'must be ISO 8859-1 text without control characters');
    return { name, value };
  });
}

/** The names of the headers of every notification, with the brand in them (service interface, Request headers of every notification). */
export function ownHeaderNames(brand: string): [string, string, string, string, string, string] {
  return [
    `X-${brand}-Client-Id`,
    `X-${brand}-Signature`,
    `X-${brand}-Webhook`,
    `X-${brand}-Notification-Id`,
    `X-${brand}-Delivery-Id`,
    `X-${brand}-Attempt-Number`,
  ];
}

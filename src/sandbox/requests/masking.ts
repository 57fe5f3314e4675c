import { exact } from '../../values/json.ts';

/** The fewest characters of a secret that is searched for in other texts. Shorter values occur in many words. */
const MIN_SEARCHED_CHARACTERS = 3;

/** The context of a value: nothing special, in a list of headers, or in a secret. */
export type Place = 'open' | 'headers' | 'secret';

/** Collects the secrets of a request while its parts are masked. */
export class Secrets {
  readonly #values = new Set<string>();

  /** @returns the mask for the value */
  hide(value: unknown): unknown {
    if (value === null || value === undefined) return value;
    const text = String(value);
    if (text.length >= MIN_SEARCHED_CHARACTERS) this.#values.add(text);
    return MASK;
  }

  /** A text without any of the secrets, including their spelling in JSON. */
  strike(text: string): string {
    let clean = text;
    for (const value of this.#values) {
      clean = clean.replaceAll(value, MASK);
      const written = JSON.stringify(value).slice(1, -1);
      if (written !== value) clean = clean.replaceAll(written, MASK);
    }
    return clean;
  }
}

/** Parses a JSON text; numbers keep their digits. Undefined if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && String(value) !== source ? exact(source) : value,
    );
  } catch {
    return undefined;
  }
}

/**
 * A JSON value with its secrets masked, according to the names of its members.
 * @param isSecret recognises further names
 */
export function maskValue(
  value: unknown,
  secrets: Secrets,
  place: Place = 'open',
  isSecret: (name: string) => boolean = isSecretName,
): unknown {
  if (Array.isArray(value)) return value.map((item) => maskValue(item, secrets, place, isSecret));
  if (typeof value === 'object' && value !== null && !('toJSON' in value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        maskValue(member, secrets, placeOf(name, place, isSecret), isSecret),
      ]),
    );
  }
  return place === 'open' ? value : secrets.hide(value);
}

function placeOf(name: string, outer: Place, isSecret: (name: string) => boolean): Place {
  if (outer === 'secret' || isSecret(name)) return 'secret';
  if (outer === 'headers') return name === 'name' ? 'open' : 'headers';
  return isHeadersName(name) ? 'headers' : 'open';
}

/** The text of a body that is not GraphQL. A suspicious text that is not JSON is not shown. */
export function maskText(text: string, secrets: Secrets): string {
  // A file of thousands of rows takes a while to parse. It is parsed only if it may contain a secret.
  if (!isSuspicious(text) && !text.includes('\\u')) return text;
  const value = parsed(text);
  if (value === undefined) return isSuspicious(text) ? MASK : text;
  return JSON.stringify(maskValue(value, secrets));
}

/** A path with its query. The values of parameters with a secret's name are masked. */
export function maskPath(url: string, secrets: Secrets): string {
  const [path = '', ...rest] = url.split('?');
  if (rest.length === 0) return path;
  const query = rest.join('?').split('&');
  const masked = query.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    if (value.length === 0 || !isSecretName(decoded(name))) return pair;
    secrets.hide(value.join('='));
    secrets.hide(decoded(value.join('=')));
    return `${name}=${MASK}`;
  });
  return `${path}?${masked.join('&')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The log of requests shows this instead of a secret. */
export const MASK = '***';

/** The ends of names of secrets, ignoring case, `_` and `-`. */
const SECRET_NAME =
  /(secret|secretkey|password|passphrase|token|apikey|privatekey|credentials|verificationcode|otp|totp|authorization)s?$/;
/** The list of a subscription's own headers. Their values contain receivers' keys. */
const HEADERS_NAME = 'extraheaders';
/** A text that cannot be parsed and contains one of these words is not shown at all. */
const SUSPICIOUS =
  /secret|password|passphrase|token|api_?key|private_?key|credential|verification_?code|otp|extra_?headers|authorization/i;

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Whether a field or parameter with this name contains a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(plain(name));
}

/** Whether a field with this name contains headers of a subscription. */
export function isHeadersName(name: string): boolean {
  return plain(name) === HEADERS_NAME;
}

/** Whether a text may contain a secret. */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.test(text);
}

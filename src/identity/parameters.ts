import { OAuthError } from './oauth-error.ts';

/** Characters of a parameter that is taken at all. */
const MAX_PARAMETER = 4_096;

/**
 * The parameters of an authorization or token request: a name given twice is refused when it is read (RFC 6749, 3.1), an empty
 * value counts as left out, and names are looked up in a Map, so `__proto__` is a name like any other.
 */
export class Parameters {
  readonly #values = new Map<string, string>();
  readonly #repeated = new Set<string>();

  /** @param encoded `application/x-www-form-urlencoded` text */
  constructor(encoded: string) {
    for (const [name, value] of new URLSearchParams(encoded)) {
      if (this.#values.has(name)) this.#repeated.add(name);
      this.#values.set(name, value);
    }
  }

  /**
   * A parameter, or undefined where it is absent or empty.
   * @throws OAuthError invalid_request where it is given twice, too long, or holds a control character
   */
  get(name: string, longest = MAX_PARAMETER): string | undefined {
    if (this.#repeated.has(name)) throw new OAuthError('invalid_request', `${name}: must be given once`);
    const value = this.#values.get(name);
    if (value === undefined || value === '') return undefined;
    if (value.length > longest)
      throw new OAuthError('invalid_request', `${name}: must have at most ${longest} characters`);
    if (hasControlCharacter(value))
      throw new OAuthError('invalid_request', `${name}: must not hold control characters`);
    return value;
  }

  /** @throws OAuthError invalid_request, also where it is absent */
  require(name: string, longest?: number): string {
    const value = this.get(name, longest);
    if (value === undefined) throw new OAuthError('invalid_request', `${name}: is required`);
    return value;
  }

  /** A secret as it was typed: any characters, any length. */
  raw(name: string): string | undefined {
    if (this.#repeated.has(name)) throw new OAuthError('invalid_request', `${name}: must be given once`);
    return this.#values.get(name) || undefined;
  }
}

export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

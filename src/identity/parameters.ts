import { readForm } from '../values/form.ts';
import { isStorable, NOT_STORABLE } from '../values/text.ts';
import { OAuthError } from './oauth-error.ts';

/** The most characters of a parameter without a limit of its own. */
export const MAX_PARAMETER_LENGTH = 4_096;

/**
 * The parameters of an authorization or token request. A repeated parameter is refused when it is read. An empty one counts as absent (RFC
 * 6749, 3.1). Names are kept in a Map, so `__proto__` is an ordinary name.
 */
export class Parameters {
  readonly #values = new Map<string, string>();
  readonly #repeated = new Set<string>();

  /** @param encoded text of type `application/x-www-form-urlencoded` */
  constructor(encoded: string) {
    for (const [name, value] of readForm(encoded)) {
      if (this.#values.has(name)) this.#repeated.add(name);
      this.#values.set(name, value);
    }
  }

  /**
   * A parameter, or undefined if it is absent or empty.
   * @throws OAuthError invalid_request if it is repeated, too long, or contains a control character
   */
  get(name: string, maxLength = MAX_PARAMETER_LENGTH): string | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (value.length > maxLength)
      throw new OAuthError('invalid_request', `${name}: must have at most ${maxLength} characters`);
    if (hasControlCharacter(value))
      throw new OAuthError('invalid_request', `${name}: must not contain control characters`);
    return value;
  }

  /** A parameter that must be present. @throws OAuthError invalid_request like `get`, and if it is absent */
  require(name: string, maxLength?: number): string {
    const value = this.get(name, maxLength);
    if (value === undefined) throw new OAuthError('invalid_request', `${name}: is required`);
    return value;
  }

  /** A secret of any length, with any characters that can be stored. @throws OAuthError invalid_request */
  raw(name: string): string | undefined {
    if (this.#repeated.has(name)) throw new OAuthError('invalid_request', `${name}: must be given once`);
    const value = this.#values.get(name);
    if (value === undefined || value === '') return undefined;
    if (!isStorable(value)) throw new OAuthError('invalid_request', `${name}: ${NOT_STORABLE}, and must be UTF-8`);
    return value;
  }
}

export function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

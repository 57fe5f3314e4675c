import type { FastifyRequest } from 'fastify';
import { type CookieOf, cookieOf, cookieSuffixes, setCookieHeader } from '../server/cookie.ts';

/** How long a sign-in may take. */
const SIGN_IN_SECONDS = 900;
/** Sign-ins that a browser may have begun at once, as when it opens again with several tabs. Further ones push out the oldest. */
const MAX_BEGUN = 4;
/** Characters of a state that name its cookie. */
const NAME_LENGTH = 12;

/**
 * What a browser keeps of its sign-ins until it comes back with a code: secrets that no script reads, and where to go on. Each is a cookie
 * of its own, so that tabs that sign in at the same time do not overwrite each other's.
 */
export class BegunSignIns {
  readonly #cookie: CookieOf;
  readonly #form: RegExp;

  /** @param form of a value: the state, further secrets, and the page to go on with, parted by dots */
  constructor(cookie: CookieOf, form: RegExp) {
    this.#cookie = cookie;
    this.#form = form;
  }

  /** Headers Set-Cookie that keep a sign-in. @param parts the state first */
  keep(request: FastifyRequest, parts: string[]): string[] {
    const [state = ''] = parts;
    // Browsers send the oldest first (RFC 6265, 5.4).
    const oldest = cookieSuffixes(request, this.#cookie).slice(0, -(MAX_BEGUN - 1));
    return [
      ...oldest.map((suffix) => setCookieHeader(this.#named(suffix), '', 0)),
      setCookieHeader(this.#named(suffixOf(state)), parts.join('.'), SIGN_IN_SECONDS),
    ];
  }

  /** The parts of the sign-in with this state; none where this browser has not begun it. */
  find(request: FastifyRequest, state: unknown): string[] {
    if (typeof state !== 'string') return [];
    const [, ...parts] = this.#form.exec(this.#value(request, suffixOf(state)) ?? '') ?? [];
    return parts[0] === state ? parts : [];
  }

  /** The parts of the sign-in that was begun last. */
  newest(request: FastifyRequest): string[] {
    const suffix = cookieSuffixes(request, this.#cookie).at(-1);
    const [, ...parts] = this.#form.exec((suffix && this.#value(request, suffix)) ?? '') ?? [];
    return parts;
  }

  /** The header Set-Cookie that forgets a sign-in: it is used up. */
  forget(state: string): string {
    return setCookieHeader(this.#named(suffixOf(state)), '', 0);
  }

  #value(request: FastifyRequest, suffix: string): string | undefined {
    return cookieOf(request, this.#named(suffix), this.#form);
  }

  #named(suffix: string): CookieOf {
    return { ...this.#cookie, name: `${this.#cookie.name}-${suffix}` };
  }
}

function suffixOf(state: string): string {
  return state.slice(0, NAME_LENGTH);
}

/** Characters of an address that a sign-in leads back to. */
const MAX_RETURN_LENGTH = 1_000;

/** The page that was asked for, as a cookie keeps it during the sign-in. */
export function keepPlace(url: string): string {
  return Buffer.from(url.slice(0, MAX_RETURN_LENGTH)).toString('base64url');
}

/** The page to go on with: one of the pages below `root`, whatever the cookie says. */
export function placeWithin(root: string, encoded: string): string {
  const place = Buffer.from(encoded, 'base64url').toString();
  const rest = place.startsWith(root) ? place.slice(root.length) : undefined;
  const own = rest !== undefined && /^(?:[/?][\x21-\x7e]*)?$/.test(rest);
  return own && !place.includes('\\') && !place.startsWith(`${root}/callback`) ? place : root;
}

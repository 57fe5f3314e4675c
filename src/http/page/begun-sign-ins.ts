import type { FastifyRequest } from 'fastify';
import { type CookieOf, cookieOf, cookieSuffixes, setCookieHeader } from '../server/cookie.ts';

/** Seconds that a sign-in may take. */
const SIGN_IN_SECONDS = 900;
/** The most sign-ins that a browser may have begun at once, for example when it reopens several tabs. Further ones replace the oldest. */
const MAX_BEGUN = 4;
/** The number of characters of a state that are part of its cookie's name. */
const NAME_LENGTH = 12;

/**
 * What a browser keeps about its sign-ins until it comes back with a code: secrets that no script can read, and where to continue. Each
 * sign-in has its own cookie, so tabs that sign in at the same time do not overwrite each other's.
 */
export class BegunSignIns {
  readonly #cookie: CookieOf;
  readonly #form: RegExp;

  /** @param form of a value: the state, further secrets, and the page to continue with, separated by dots */
  constructor(cookie: CookieOf, form: RegExp) {
    this.#cookie = cookie;
    this.#form = form;
  }

  /** Set-Cookie headers that store a sign-in. @param parts the state first */
  keep(request: FastifyRequest, parts: string[]): string[] {
    const [state = ''] = parts;
    // Browsers send the oldest cookie first (RFC 6265, 5.4).
    const oldest = cookieSuffixes(request, this.#cookie).slice(0, -(MAX_BEGUN - 1));
    return [
      ...oldest.map((suffix) => setCookieHeader(this.#named(suffix), '', 0)),
      setCookieHeader(this.#named(suffixOf(state)), parts.join('.'), SIGN_IN_SECONDS),
    ];
  }

  /** The parts of the sign-in with this state; empty if this browser has not begun it. */
  find(request: FastifyRequest, state: unknown): string[] {
    if (typeof state !== 'string') return [];
    const [, ...parts] = this.#form.exec(this.#value(request, suffixOf(state)) ?? '') ?? [];
    return parts[0] === state ? parts : [];
  }

  /** The parts of the most recently begun sign-in. */
  newest(request: FastifyRequest): string[] {
    const suffix = cookieSuffixes(request, this.#cookie).at(-1);
    const [, ...parts] = this.#form.exec((suffix && this.#value(request, suffix)) ?? '') ?? [];
    return parts;
  }

  /** The Set-Cookie header that removes a sign-in after its use. */
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

/** The most characters of an address to which a sign-in leads back. */
const MAX_RETURN_LENGTH = 1_000;

/** The page that was requested, in the form that a cookie keeps during the sign-in. */
export function keepPlace(url: string): string {
  return Buffer.from(url.slice(0, MAX_RETURN_LENGTH)).toString('base64url');
}

/** The page to continue with. It is always below `root`, whatever the cookie says. */
export function placeWithin(root: string, encoded: string): string {
  const place = Buffer.from(encoded, 'base64url').toString();
  const rest = place.startsWith(root) ? place.slice(root.length) : undefined;
  const own = rest !== undefined && /^(?:[/?][\x21-\x7e]*)?$/.test(rest);
  return own && !place.includes('\\') && !place.startsWith(`${root}/callback`) ? place : root;
}

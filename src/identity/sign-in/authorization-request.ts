import { type Db, first } from '../../database/database.ts';
import { equalSecrets, randomToken, sha256 } from '../../values/crypto.ts';
import type { RegisteredApplication } from '../applications/application-credentials.ts';
import { OAuthError, received } from '../oauth-error.ts';
import type { Parameters } from '../parameters.ts';

/** Seconds for which a sign-in page may stay open. */
const REQUEST_LIFETIME_SECONDS = 3_600;
/** The most characters of each parameter. */
export const MAX_STATE_LENGTH = 2_048;
export const MAX_NONCE_LENGTH = 512;
export const MAX_REDIRECT_URI_LENGTH = 2_048;
/** In seconds. */
export const MAX_AGE = /^\d{1,9}$/;
/** base64url of a SHA-256 (RFC 7636, 4.2). */
export const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Matches the port of a loopback address. */
const LOOPBACK_PORT = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):[1-9]\d{0,4}(?=\/)/;

/** A valid authorization request (OpenID Connect Core, 3.1.2.1). */
export interface AuthorizationRequest {
  application: RegisteredApplication;
  redirectUri: string;
  state: string;
  nonce: string | null;
  codeChallenge: string | null;
}

/** Whether a browser that is already signed in may, or must, see the page (OpenID Connect Core, 3.1.2.1). */
export interface Prompting {
  none: boolean;
  login: boolean;
  /** The greatest age of the sign-in, in seconds. */
  maxAge: number | undefined;
}

/**
 * The address to which the answer goes. It is determined first, because no error may redirect to an unchecked address. It must equal a
 * registered address as text, without normalisation, prefixes or wildcards. Only the port of a loopback address of a public application may
 * differ (RFC 8252, 7.3).
 * @param headless a headless sign-in may omit the address if exactly one is registered (docs/decisions.md, 7)
 * @throws OAuthError invalid_request
 */
export function redirectUriOf(parameters: Parameters, application: RegisteredApplication, headless: boolean): string {
  const asked = parameters.get('redirect_uri', MAX_REDIRECT_URI_LENGTH);
  if (asked !== undefined) {
    if (application.redirectUris.includes(asked)) return asked;
    if (application.publicClient && application.redirectUris.includes(asked.replace(LOOPBACK_PORT, '$1'))) return asked;
    throw new OAuthError(
      'invalid_request',
      `redirect_uri: must equal an address that is registered for the application, character by character${received(asked)}`,
    );
  }
  const [only, ...more] = application.redirectUris;
  if (headless && only !== undefined && more.length === 0) return only;
  throw new OAuthError(
    'invalid_request',
    headless ? 'redirect_uri: is required, because several addresses are registered' : 'redirect_uri: is required',
  );
}

/**
 * Checks the rest of a request.
 * @param options `headless`: `scope` and `response_type` may be omitted, because the form has only email, password, client_id and state
 * @throws OAuthError with a code of RFC 6749, 4.1.2.1
 */
export function checkRequest(
  parameters: Parameters,
  application: RegisteredApplication,
  redirectUri: string,
  options: { headless: boolean; requirePkce: boolean },
): AuthorizationRequest {
  if (parameters.get('request') !== undefined)
    throw new OAuthError('request_not_supported', 'request: is not supported');
  if (parameters.get('request_uri') !== undefined)
    throw new OAuthError('request_uri_not_supported', 'request_uri: is not supported');
  const type = options.headless ? (parameters.get('response_type') ?? 'code') : parameters.require('response_type');
  if (type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type: must be code');
  const mode = parameters.get('response_mode');
  if (mode !== undefined && mode !== 'query') throw new OAuthError('invalid_request', 'response_mode: must be query');
  const scope = options.headless ? (parameters.get('scope') ?? 'openid') : parameters.require('scope');
  if (!scope.split(' ').includes('openid')) throw new OAuthError('invalid_scope', 'scope: must contain openid');
  const state = parameters.require('state', MAX_STATE_LENGTH);
  const nonce = parameters.get('nonce', MAX_NONCE_LENGTH) ?? null;
  return {
    application,
    redirectUri,
    state,
    nonce,
    codeChallenge: challengeOf(parameters, application.requirePkce || options.requirePkce),
  };
}

function challengeOf(parameters: Parameters, required: boolean): string | null {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (required) throw new OAuthError('invalid_request', 'code_challenge: is required (PKCE, S256)');
    if (method !== undefined)
      throw new OAuthError('invalid_request', 'code_challenge: is required together with code_challenge_method');
    return null;
  }
  if (method !== 'S256') throw new OAuthError('invalid_request', 'code_challenge_method: must be S256');
  if (!CHALLENGE.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge: must be a SHA-256 in base64url');
  return challenge;
}

/** @throws OAuthError invalid_request */
export function promptingOf(parameters: Parameters): Prompting {
  const prompts = (parameters.get('prompt') ?? '').split(' ').filter(Boolean);
  const none = prompts.includes('none');
  if (none && prompts.length > 1)
    throw new OAuthError('invalid_request', 'prompt: none must not be combined with other values');
  const maxAge = parameters.get('max_age');
  if (maxAge !== undefined && !MAX_AGE.test(maxAge))
    throw new OAuthError('invalid_request', 'max_age: must be a number of seconds');
  return {
    none,
    login: prompts.includes('login') || prompts.includes('select_account'),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

/**
 * Stores the request of a page until the visitor signs in.
 * @param browser the value of the browser's cookie, which must accompany the posted page
 * @returns the id of the request, which the page posts
 */
export async function keepRequest(
  db: Db,
  request: AuthorizationRequest,
  { browser, now }: { browser: string; now: Date },
): Promise<string> {
  const id = randomToken();
  await db.query({
    name: 'keep_request',
    text: `insert into sign_in_requests
      (request_sha256, browser_sha256, application_id, redirect_uri, state, nonce, code_challenge, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      sha256(id),
      sha256(browser),
      request.application.id,
      request.redirectUri,
      request.state,
      request.nonce,
      request.codeChallenge,
      now,
      new Date(now.getTime() + REQUEST_LIFETIME_SECONDS * 1_000),
    ],
  });
  return id;
}

/** The stored request of a page. */
export interface KeptRequest extends Omit<AuthorizationRequest, 'application'> {
  applicationId: string;
}

/**
 * The stored request of a posted page.
 * @throws OAuthError invalid_request (`expired`) if it does not exist, or if browser, client_id or state differ from the request
 */
export async function findRequest(
  db: Db,
  input: { id: string; browser: string | undefined; clientId: string; state: string; now: Date },
): Promise<KeptRequest> {
  const row = first(
    await db.query<{
      application_id: string;
      redirect_uri: string;
      state: string;
      nonce: string | null;
      code_challenge: string | null;
    }>({
      name: 'find_request',
      text: `select application_id, redirect_uri, state, nonce, code_challenge from sign_in_requests
        where request_sha256 = $1 and browser_sha256 = $2 and expires_at > $3`,
      values: [sha256(input.id), sha256(input.browser ?? ''), input.now],
    }),
  );
  if (!row || row.application_id !== input.clientId || !equalSecrets(row.state, input.state)) {
    throw new OAuthError('invalid_request', 'the sign-in page has expired, or was opened in another browser', {
      refusal: 'expired',
    });
  }
  return {
    applicationId: row.application_id,
    redirectUri: row.redirect_uri,
    state: row.state,
    nonce: row.nonce,
    codeChallenge: row.code_challenge,
  };
}

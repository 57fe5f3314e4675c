import { abortable } from './abort.ts';
import { nowMs } from './calendar.ts';
import { LombardError } from './error.ts';
import { type Exchange, type Incoming, textOf } from './exchange.ts';

/** An application registered at the authorization server. Without a secret, it is a public client. */
export interface Application {
  id: string;
  secret?: string;
}

/** The result of a refresh. */
export interface TokenSet {
  accessToken: string;
  refreshToken: string;
  /** When the access token expires, on this machine's clock. */
  expiresAt: Date;
}

export interface TokenSettings {
  accessToken?: string | undefined;
  refreshToken?: string | undefined;
  /** Where tokens are refreshed; required only with a refresh token. */
  endpoint?: URL | undefined;
  application?: Application | undefined;
  onTokens?: ((tokens: TokenSet) => unknown) | undefined;
}

/** The tokens of a client: the access token for calls, and its refresh. Only one refresh runs at a time, shared by all calls. */
export class Tokens {
  readonly #exchange: Exchange;
  readonly #settings: TokenSettings;
  #accessToken: string | undefined;
  #refreshToken: string | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(exchange: Exchange, settings: TokenSettings) {
    this.#exchange = exchange;
    this.#settings = settings;
    this.#accessToken = settings.accessToken;
    this.#refreshToken = settings.refreshToken;
  }

  /**
   * The access token for a call. It waits for a refresh in progress, and starts one if there is no access token yet.
   * @throws LombardError if the first refresh failed; AbortError
   */
  async current(signal: AbortSignal | undefined): Promise<string | undefined> {
    if (this.#accessToken === undefined && this.#refreshToken !== undefined) await abortable(this.#refresh(), signal);
    // Only the calls that asked for a refresh learn that it failed; this one tries with the current token.
    else if (this.#refreshing)
      await abortable(
        this.#refreshing.catch(() => {}),
        signal,
      );
    return this.#accessToken;
  }

  /**
   * After a 401: gets an access token other than the refused one.
   * @param refused the token that the call used
   * @returns whether there is another one now
   * @throws LombardError if the refresh failed; AbortError
   */
  async renew(refused: string | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#accessToken === refused) {
      if (this.#refreshToken === undefined) return false;
      await abortable(this.#refresh(), signal);
    }
    return this.#accessToken !== refused;
  }

  /** Not bound to the signal of a call, because another call may be waiting for it. */
  #refresh(): Promise<void> {
    if (this.#refreshing) return this.#refreshing;
    const mine = this.#ask().finally(() => {
      if (this.#refreshing === mine) this.#refreshing = undefined;
    });
    this.#refreshing = mine;
    return mine;
  }

  async #ask(): Promise<void> {
    const { endpoint, application, onTokens } = this.#settings;
    if (!endpoint || !application) throw new TypeError('authUrl and application: are needed to refresh tokens');
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: this.#refreshToken ?? '',
      scope: 'openid',
    });
    const headers: Record<string, string> = {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    };
    if (application.secret === undefined) form.set('client_id', application.id);
    else headers.authorization = basic(application.id, application.secret);
    const incoming = await this.#exchange.send({
      method: 'POST',
      url: endpoint,
      headers,
      body: form.toString(),
      reads: false,
    });
    const tokens = read(incoming, () => {
      this.#refreshToken = undefined;
    });
    this.#accessToken = tokens.accessToken;
    this.#refreshToken = tokens.refreshToken;
    // From here on, a call made by the callback itself uses the new token instead of waiting for the callback.
    this.#refreshing = undefined;
    await onTokens?.(tokens);
  }
}

/**
 * @param onSpent called if the refresh token can never be used again (RFC 6749, 5.2)
 * @throws LombardError with the authorization server's `error` as its code
 */
function read(incoming: Incoming, onSpent: () => void): TokenSet {
  const { status, headers } = incoming;
  const requestId = headers.get('x-request-id') ?? undefined;
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(textOf(incoming)) ?? {};
  } catch {
    // Reported below: a body that is not JSON has no token either.
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, error } = body;
  if (error === 'invalid_grant') onSpent();
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string' || typeof seconds !== 'number') {
    const code = typeof error === 'string' ? error : 'invalid_response';
    const details = typeof body.error_description === 'string' ? body.error_description : 'no tokens came';
    throw new LombardError({ status, code, details, requestId, message: 'The tokens could not be refreshed' });
  }
  return { accessToken, refreshToken, expiresAt: new Date(nowMs() + seconds * 1_000) };
}

/** Both parts are form-encoded first (RFC 6749, 2.3.1). */
function basic(id: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${btoa(`${encoded(id)}:${encoded(secret)}`)}`;
}

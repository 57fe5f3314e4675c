import { CommandFailure, reach } from '../failure.ts';

/** The public application that contacts sign in with at the command line (RFC 8252). */
export const COMMAND_APPLICATION = 'lombard-cli';

/** What the command line needs of the metadata (OpenID Connect Discovery, 3). */
interface Metadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  revocation_endpoint: string;
  userinfo_endpoint: string;
}

/** Who a token stands for (OpenID Connect Core, 5.3). */
export interface Person {
  sub: string;
  name?: string;
  email?: string;
  clients: { client_id: string; client_name: string }[];
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** An authorization server, as the application `lombard-cli` calls it. */
export class AuthorizationServer {
  readonly #metadata: Metadata;

  private constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  /** @throws CommandFailure where there is no authorization server at the address */
  static async at(url: string): Promise<AuthorizationServer> {
    const answer = await reach(`${url}/.well-known/openid-configuration`);
    const metadata = (await answer.json().catch(() => ({}))) as Partial<Metadata>;
    if (!answer.ok || !metadata.authorization_endpoint)
      throw new CommandFailure(`${url} is not an authorization server: its metadata cannot be read (${answer.status})`);
    return new AuthorizationServer(metadata as Metadata);
  }

  get issuer(): string {
    return this.#metadata.issuer;
  }

  /** The address of the sign-in page (OpenID Connect Core, 3.1.2.1; RFC 7636, 4.3). */
  pageFor(request: { redirectUri: string; state: string; challenge: string }): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: COMMAND_APPLICATION,
      redirect_uri: request.redirectUri,
      scope: 'openid',
      state: request.state,
      code_challenge: request.challenge,
      code_challenge_method: 'S256',
    });
    return `${this.#metadata.authorization_endpoint}?${query}`;
  }

  /** @throws CommandFailure with the server's reason */
  async exchange(code: string, { redirectUri, verifier }: { redirectUri: string; verifier: string }): Promise<Tokens> {
    const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    return this.#post<Tokens>(this.#metadata.token_endpoint, fields);
  }

  /** Revokes a refresh token and all that was issued with it (RFC 7009). @throws CommandFailure */
  async revoke(refreshToken: string): Promise<void> {
    await this.#post(this.#metadata.revocation_endpoint, { token: refreshToken });
  }

  /** @throws CommandFailure */
  async person(accessToken: string): Promise<Person> {
    const answer = await reach(this.#metadata.userinfo_endpoint, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const body = (await answer.json().catch(() => ({}))) as Person & { error?: string };
    if (!answer.ok)
      throw new CommandFailure(`${this.issuer} does not say who signed in: ${body.error ?? answer.status}`);
    return body;
  }

  async #post<Answer>(url: string, fields: Record<string, string>): Promise<Answer> {
    const body = new URLSearchParams({ client_id: COMMAND_APPLICATION, ...fields });
    const answer = await reach(url, { method: 'POST', body });
    const read = await answer.json().catch(() => ({}));
    if (answer.ok) return read as Answer;
    throw new CommandFailure(`${read.error ?? answer.status}: ${read.error_description ?? `${url} refused`}`);
  }
}

import { listOf, textsOf } from '../../values/unknown.ts';
import { answered, CommandFailure, reach } from '../failure.ts';

/** The public application with which contacts sign in at the command line (RFC 8252). */
export const COMMAND_APPLICATION = 'lombard-cli';

/** The metadata that the command line needs (OpenID Connect Discovery, 3). */
const METADATA = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'revocation_endpoint',
  'userinfo_endpoint',
] as const;
type Metadata = Record<(typeof METADATA)[number], string>;

/** The person whom a token represents (OpenID Connect Core, 5.3). */
export interface Person {
  sub: string;
  name: string | undefined;
  email: string | undefined;
  clients: Record<'client_id' | 'client_name', string>[];
}

const TOKENS = ['access_token', 'refresh_token'] as const;
type Tokens = Record<(typeof TOKENS)[number], string>;

/** An authorization server, called by the application `lombard-cli`. */
export class AuthorizationServer {
  readonly #metadata: Metadata;

  private constructor(metadata: Metadata) {
    this.#metadata = metadata;
  }

  /** @throws CommandFailure if there is no authorization server at the address */
  static async at(url: string): Promise<AuthorizationServer> {
    const answer = await reach(`${url}/.well-known/openid-configuration`);
    const metadata = textsOf(await answered(answer), METADATA);
    if (!answer.ok || !metadata)
      throw new CommandFailure(`${url} is not an authorization server: its metadata cannot be read (${answer.status})`);
    return new AuthorizationServer(metadata);
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
    const tokens = textsOf(await this.#post(this.#metadata.token_endpoint, fields), TOKENS);
    if (!tokens) throw new CommandFailure(`${this.issuer} gave no tokens`);
    return tokens;
  }

  /** Revokes a refresh token and everything that was issued with it (RFC 7009). @throws CommandFailure */
  async revoke(refreshToken: string): Promise<void> {
    await this.#post(this.#metadata.revocation_endpoint, { token: refreshToken });
  }

  /** @throws CommandFailure */
  async person(accessToken: string): Promise<Person> {
    const answer = await reach(this.#metadata.userinfo_endpoint, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const { sub, name, email, clients, error } = await answered(answer);
    if (!answer.ok || typeof sub !== 'string')
      throw new CommandFailure(`${this.issuer} does not say who signed in: ${error ?? answer.status}`);
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
    const known = listOf(clients).flatMap((client) => textsOf(client, ['client_id', 'client_name']) ?? []);
    return { sub, name: text(name), email: text(email), clients: known };
  }

  async #post(url: string, fields: Record<string, string>): Promise<unknown> {
    const body = new URLSearchParams({ client_id: COMMAND_APPLICATION, ...fields });
    const answer = await reach(url, { method: 'POST', body });
    const read = await answered(answer);
    if (answer.ok) return read;
    throw new CommandFailure(`${read.error ?? answer.status}: ${read.error_description ?? `${url} refused`}`);
  }
}

import type { Configuration, ServerMetadata } from 'openid-client';
import type { StaffSettings } from '../settings/staff-settings.ts';
import { Problem } from '../values/errors.ts';
import { roleClaims, type StaffPerson } from './staff-session.ts';

/** Seconds to wait for an answer of the provider. */
const TIMEOUT_SECONDS = 10;
/** The most characters of a person's name. */
const MAX_NAME_LENGTH = 200;

/** What a browser keeps about its sign-in until it comes back. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  /** The verifier of PKCE (RFC 7636). */
  verifier: string;
}

/**
 * The institution's OpenID provider, where its staff signs in (OpenID Connect Core, 3.1: the authorization code flow). The library is
 * loaded, and the provider is first contacted, at the first sign-in. So the service starts without either.
 */
export class StaffProvider {
  readonly #settings: StaffSettings;
  #configuration: Promise<Configuration> | undefined;

  constructor(settings: StaffSettings) {
    this.#settings = settings;
  }

  /** Checks that the provider answers with its metadata. @throws Error if it does not answer, or is a different provider */
  async answers(): Promise<void> {
    await this.#ready();
  }

  /** The address where the browser signs in. @throws Error if the provider does not answer */
  async signInAddress(redirectUri: string, { state, nonce, verifier }: SignInSecrets): Promise<string> {
    const client = await import('openid-client');
    const configuration = await this.#ready();
    const { scopes_supported: offered = [] } = configuration.serverMetadata();
    // Some providers send a claim such as `groups` only if a scope of that name is requested.
    const asked = this.#settings.roles.map(({ claim }) => claim).filter((claim) => offered.includes(claim));
    const address = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: [...new Set(['openid', 'profile', ...asked])].join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return address.href;
  }

  /**
   * The person who has signed in. It exchanges the code, and checks state, nonce, PKCE, the issuer and the signature of the ID token.
   * @param back the address that the browser came back to, with its query
   * @throws Problem permission_denied if the provider sends no name; Error if it refuses, or something is wrong with its answer
   */
  async person(back: URL, { state, nonce, verifier }: SignInSecrets): Promise<StaffPerson> {
    const client = await import('openid-client');
    const configuration = await this.#ready();
    const tokens = await client.authorizationCodeGrant(configuration, back, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const token = tokens.claims();
    if (!token) throw new Error('the provider sent no ID token');
    const wanted = ['name', ...this.#settings.roles.map(({ claim }) => claim)];
    const complete = wanted.every((claim) => claim in token);
    const asksMore = !complete && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const told = asksMore ? await client.fetchUserInfo(configuration, tokens.access_token, token.sub) : {};
    const claims: Record<string, unknown> = { ...told, ...token };
    if (typeof claims.name !== 'string' || claims.name.trim() === '')
      throw new Problem('permission_denied', 'the provider of the institution sent no name (the claim `name`)');
    return {
      issuer: token.iss,
      subject: token.sub,
      name: claims.name.trim().slice(0, MAX_NAME_LENGTH),
      claims: roleClaims(this.#settings.roles, claims),
    };
  }

  /**
   * The address where the browser also signs out at the provider (OpenID Connect RP-Initiated Logout 1.0). Null if the provider has no such
   * address or does not answer. The ID token is not kept, so the address names only the client, and the provider may ask the person.
   * @param back where the provider then leads, with `state=done`
   */
  async signOutAddress(back: string): Promise<string | null> {
    const client = await import('openid-client');
    try {
      const configuration = await this.#ready();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: back, state: 'done' }).href;
    } catch {
      return null;
    }
  }

  /** The provider's metadata. It is requested again if the provider did not answer. */
  #ready(): Promise<Configuration> {
    this.#configuration ??= this.#discover().catch((error) => {
      this.#configuration = undefined;
      throw error;
    });
    return this.#configuration;
  }

  async #discover(): Promise<Configuration> {
    const client = await import('openid-client');
    const { issuer, clientId, clientSecret } = this.#settings;
    const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
    const takesBasic = ({ token_endpoint_auth_methods_supported: methods }: Readonly<Partial<ServerMetadata>>) =>
      methods === undefined || methods.includes('client_secret_basic');
    return client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      (as, metadata, body, headers) => (takesBasic(as) ? basic : post)(as, metadata, body, headers),
      {
        timeout: TIMEOUT_SECONDS,
        // The signature is checked too, because on loopback no TLS identifies the provider.
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  }
}

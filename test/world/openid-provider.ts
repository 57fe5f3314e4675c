import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listening } from './ports.ts';

/** A request that came to the authorization endpoint. */
interface Asked {
  query: URLSearchParams;
  claims: Record<string, unknown>;
}

/** An institution's OpenID provider on loopback. It signs `person` in without asking. */
export class OpenIdProvider {
  readonly clientId = 'console';
  readonly clientSecret = 'secret-of-the-console';
  /** The claims of the person at the browser. */
  person: Record<string, unknown> = { sub: 'ada', name: 'Ada Support', groups: ['payments-support'] };
  /** Claims of the ID token that are added to those of the flow or replace them. */
  forged: Record<string, unknown> = {};
  /** Claims that only the userinfo endpoint returns. */
  userinfo: Record<string, unknown> = {};
  asked: URLSearchParams | undefined;
  /** The parameters of the last sign-out. */
  signedOut: URLSearchParams | undefined;
  issuer = '';
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  readonly #codes = new Map<string, Asked>();
  readonly #key = generateKeyPairSync('rsa', { modulusLength: 2048 });

  async start(): Promise<this> {
    this.issuer = `http://127.0.0.1:${await listening(this.#server)}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get settings(): Record<string, string> {
    return {
      LOMBARD_STAFF_ISSUER: this.issuer,
      LOMBARD_STAFF_CLIENT_ID: this.clientId,
      LOMBARD_STAFF_CLIENT_SECRET: this.clientSecret,
      LOMBARD_STAFF_ROLES: 'groups:payments-support=support,groups:audit=auditor,groups:chiefs=admin',
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer);
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/.well-known/openid-configuration') return void json(this.#metadata());
    if (url.pathname === '/keys')
      return void json({
        keys: [{ ...this.#key.publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }],
      });
    if (url.pathname === '/userinfo') return void json({ sub: this.person.sub, ...this.userinfo });
    if (url.pathname === '/logout') {
      const back = new URL(url.searchParams.get('post_logout_redirect_uri') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      this.signedOut = url.searchParams;
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/authorize') {
      this.asked = url.searchParams;
      const code = randomUUID();
      this.#codes.set(code, { query: url.searchParams, claims: this.person });
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname !== '/token') return void json({}, 404);
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    // Both are form-encoded before they are joined (RFC 6749, 2.3.1).
    const [id, secret] = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent);
    const asked = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const good =
      asked?.query.get('redirect_uri') === form.get('redirect_uri') && asked?.query.get('code_challenge') === challenge;
    if (id !== this.clientId || secret !== this.clientSecret) return void json({ error: 'invalid_client' }, 401);
    if (!asked || !good) return void json({ error: 'invalid_grant' }, 400);
    const nonce = asked.query.get('nonce');
    json({
      access_token: 'at',
      token_type: 'Bearer',
      expires_in: 60,
      id_token: this.#idToken({ ...asked.claims, nonce }),
    });
  }

  #metadata(): object {
    const at = (path: string) => this.issuer + path;
    return {
      issuer: this.issuer,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      userinfo_endpoint: at('/userinfo'),
      end_session_endpoint: at('/logout'),
      jwks_uri: at('/keys'),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid', 'profile', 'groups'],
    };
  }

  #idToken(claims: Record<string, unknown>): string {
    const seconds = Math.floor(Date.now() / 1_000);
    const all = { iss: this.issuer, aud: this.clientId, iat: seconds, exp: seconds + 60, ...claims, ...this.forged };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: '1' })}.${part(all)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), this.#key.privateKey).toString('base64url')}`;
  }
}

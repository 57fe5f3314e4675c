import type { Addresses } from '../../../context.ts';
import { LANGUAGES } from '../../../values/language.ts';
import { text } from './operation.ts';

const address = (description: string) => ({ type: 'string', format: 'uri', description });
const list = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
const flag = (description: string) => ({ type: 'boolean', description });

const ALWAYS = {
  issuer: address('Address of the authorization server'),
  authorization_endpoint: address('Where browsers are sent'),
  token_endpoint: address('Where tokens are issued'),
  userinfo_endpoint: address('Who a token stands for'),
  revocation_endpoint: address('Where tokens are revoked'),
  introspection_endpoint: address('Whether a token is valid'),
  end_session_endpoint: address('Where browsers are signed out'),
  jwks_uri: address('The public keys; there are none'),
  scopes_supported: list('openid'),
  response_types_supported: list('code'),
  response_modes_supported: list('query'),
  grant_types_supported: list('authorization_code, refresh_token'),
  subject_types_supported: list('public'),
  id_token_signing_alg_values_supported: list('HS256, with the client secret'),
  token_endpoint_auth_methods_supported: list('How an application authenticates; none: a public application'),
  revocation_endpoint_auth_methods_supported: list('As at the token endpoint'),
  introspection_endpoint_auth_methods_supported: list('Without none'),
  code_challenge_methods_supported: list('S256'),
  prompt_values_supported: list('What `prompt` may be'),
  claims_supported: list('What id_tokens and userinfo can say'),
  ui_locales_supported: list('Languages of the pages'),
  authorization_response_iss_parameter_supported: flag('Redirects carry `iss` (RFC 9207)'),
  claims_parameter_supported: flag('The parameter claims'),
  request_parameter_supported: flag('The parameter request'),
  request_uri_parameter_supported: flag('The parameter request_uri'),
};

const MUTUAL_TLS = {
  tls_client_certificate_bound_access_tokens: flag(
    'Tokens of the trusted address are bound to a certificate (RFC 8705)',
  ),
  mtls_endpoint_aliases: {
    type: 'object',
    description: 'The same operations over mutual TLS',
    required: ['token_endpoint', 'userinfo_endpoint', 'revocation_endpoint', 'introspection_endpoint'],
    properties: {
      token_endpoint: text('Where tokens are issued'),
      userinfo_endpoint: text('Who a token stands for'),
      revocation_endpoint: text('Where tokens are revoked'),
      introspection_endpoint: text('Whether a token is valid'),
    },
  },
};

const AUTH = 'https://auth.example.com';

/** The schema of the discovery document (auth/discovery.ts). The last two members are present if a trusted address is served. */
export const METADATA = {
  type: 'object',
  description: 'OpenID Connect Discovery, 3; RFC 8414, 2',
  required: Object.keys(ALWAYS),
  properties: { ...ALWAYS, ...MUTUAL_TLS },
  examples: [
    {
      ...metadataOf({ auth: AUTH, trusted: undefined }),
      claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'name', 'email'],
    },
  ],
};

/** The metadata of an authorization server. It is built from the configured addresses. The headers Host and Forwarded have no influence. */
export function metadataOf({ auth, trusted }: Pick<Addresses, 'auth' | 'trusted'>): Record<string, unknown> {
  const authentication = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer: auth,
    authorization_endpoint: `${auth}/authenticate`,
    token_endpoint: `${auth}/token`,
    userinfo_endpoint: `${auth}/userinfo`,
    revocation_endpoint: `${auth}/revoke`,
    introspection_endpoint: `${auth}/introspect`,
    end_session_endpoint: `${auth}/end-session`,
    jwks_uri: `${auth}/jwks`,
    scopes_supported: ['openid'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['HS256'],
    token_endpoint_auth_methods_supported: [...authentication, 'none'],
    revocation_endpoint_auth_methods_supported: [...authentication, 'none'],
    introspection_endpoint_auth_methods_supported: authentication,
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: ['none', 'login', 'select_account'],
    claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'amr', 'nonce', 'clients', 'name', 'email'],
    ui_locales_supported: LANGUAGES,
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...(trusted === undefined
      ? {}
      : {
          tls_client_certificate_bound_access_tokens: true,
          mtls_endpoint_aliases: {
            token_endpoint: `${trusted}/token`,
            userinfo_endpoint: `${trusted}/userinfo`,
            revocation_endpoint: `${trusted}/revoke`,
            introspection_endpoint: `${trusted}/introspect`,
          },
        }),
  };
}

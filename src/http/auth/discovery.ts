import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { LANGUAGES } from '../../values/language.ts';
import type { AuthContext } from './auth-context.ts';

/** The metadata of the authorization server (OpenID Connect Discovery, 4; RFC 8414). It has no public keys, since id_tokens use HS256. */
export function discoveryRoutes(app: FastifyInstance, { context }: AuthContext): void {
  for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
    app.get(path, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=300')
        .header('access-control-allow-origin', '*')
        .send(metadata(context)),
    );
  }
  app.get('/jwks', (_request, reply) => reply.header('cache-control', 'public, max-age=300').send({ keys: [] }));
}

/** Built from the configured addresses. The headers Host and Forwarded have no influence. */
function metadata({ addresses }: Context): Record<string, unknown> {
  const { auth, trusted } = addresses;
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

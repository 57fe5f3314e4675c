import { OAuthError } from '../oauth-error.ts';
import type { Parameters } from '../parameters.ts';

/** RFC 7636, 4.1. */
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** An authorization code to exchange (RFC 6749, 4.1.3). */
export interface CodeRequest {
  grantType: 'authorization_code';
  code: string;
  redirectUri: string;
  verifier: string | undefined;
}

/** A refresh token to exchange (RFC 6749, 6). */
export interface RefreshRequest {
  grantType: 'refresh_token';
  refreshToken: string;
}

/** Reads the form of POST /token. @throws OAuthError with a code of RFC 6749, 5.2 */
export function readTokenRequest(fields: Parameters): CodeRequest | RefreshRequest {
  const grantType = fields.require('grant_type');
  if (grantType === 'authorization_code') return readCodeRequest(fields);
  if (grantType === 'refresh_token') return readRefreshRequest(fields);
  throw new OAuthError('unsupported_grant_type', 'grant_type: must be authorization_code or refresh_token');
}

function readCodeRequest(fields: Parameters): CodeRequest {
  const verifier = fields.get('code_verifier');
  if (verifier !== undefined && !CODE_VERIFIER.test(verifier))
    throw new OAuthError('invalid_grant', 'code_verifier: must be 43 to 128 unreserved characters (RFC 7636, 4.1)');
  return {
    grantType: 'authorization_code',
    code: fields.require('code'),
    redirectUri: fields.require('redirect_uri'),
    verifier,
  };
}

function readRefreshRequest(fields: Parameters): RefreshRequest {
  const refreshToken = fields.require('refresh_token');
  // Client libraries omit the scope. A scope that is sent must include the only one there is.
  const scope = fields.get('scope');
  if (scope !== undefined && !scope.split(' ').includes('openid'))
    throw new OAuthError('invalid_scope', 'scope: must contain openid');
  return { grantType: 'refresh_token', refreshToken };
}

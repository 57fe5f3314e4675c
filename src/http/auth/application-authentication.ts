import type { FastifyRequest } from 'fastify';
import type {
  ApplicationCredentials,
  RegisteredApplication,
} from '../../identity/applications/application-credentials.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import type { Parameters } from '../../identity/parameters.ts';

/** An application that has authenticated, and the secret that it used. */
export interface AuthenticatedApplication {
  application: RegisteredApplication;
  secret: string;
}

/** The most characters that are read of the header Authorization. */
const MAX_HEADER_LENGTH = 4_096;

/**
 * Authenticates an application with `client_secret_basic`, or `client_secret_post` in the form; never both (RFC 6749, 2.3).
 * @throws OAuthError invalid_client, invalid_request
 */
export async function authenticateApplication(
  applications: Pick<ApplicationCredentials, 'authenticate'>,
  request: FastifyRequest,
  fields: Parameters,
): Promise<AuthenticatedApplication> {
  const header = request.headers.authorization;
  const [clientId, secret] = [fields.get('client_id'), fields.raw('client_secret')];
  if (header !== undefined) {
    if (secret !== undefined)
      throw new OAuthError('invalid_request', 'client_secret: must not be sent together with the header Authorization');
    const authenticated = await basicCredentials(applications, header);
    if (clientId !== undefined && clientId !== authenticated.application.id) {
      throw new OAuthError('invalid_request', 'client_id: must be the application of the header Authorization');
    }
    return authenticated;
  }
  if (clientId === undefined || secret === undefined) {
    throw new OAuthError(
      'invalid_client',
      'the application must authenticate: header Authorization, Basic client_id:client_secret',
    );
  }
  return (await applications.authenticate(clientId, secret)) ?? refuse();
}

/**
 * Like `authenticateApplication`, but a public application only identifies itself, by `client_id` in the form (RFC 6749, 2.3.1 and 3.2.1).
 * @returns `secret`: undefined for a public application
 * @throws OAuthError invalid_client, invalid_request
 */
export async function identifyApplication(
  applications: Pick<ApplicationCredentials, 'authenticate' | 'find'>,
  request: FastifyRequest,
  fields: Parameters,
): Promise<{ application: RegisteredApplication; secret: string | undefined }> {
  const clientId = fields.get('client_id');
  if (
    clientId !== undefined &&
    request.headers.authorization === undefined &&
    fields.raw('client_secret') === undefined
  ) {
    const application = await applications.find(clientId);
    if (application?.publicClient) return { application, secret: undefined };
  }
  return authenticateApplication(applications, request, fields);
}

/**
 * Authenticates an application by the header `Authorization: Basic`.
 * @throws OAuthError invalid_client, with the same text whether the application or the secret is wrong
 */
export async function basicCredentials(
  applications: Pick<ApplicationCredentials, 'authenticate'>,
  header: string,
): Promise<AuthenticatedApplication> {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*)$/i.exec(header.slice(0, MAX_HEADER_LENGTH))?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) refuse();
  const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)];
  const asSent = await applications.authenticate(id, secret);
  if (asSent) return asSent;
  // RFC 6749, 2.3.1 requires both parts form-encoded. Few clients do that, so the decoded values are tried second.
  const [decodedId, decodedSecret] = [formDecoded(id), formDecoded(secret)];
  if (decodedId === id && decodedSecret === secret) refuse();
  return (await applications.authenticate(decodedId, decodedSecret)) ?? refuse();
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function refuse(): never {
  throw new OAuthError('invalid_client', 'the application is unknown, disabled, or its secret is wrong');
}

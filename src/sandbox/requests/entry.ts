import { fieldsOf, listOf } from '../../values/unknown.ts';
import { maskGraphql } from './graphql-masking.ts';
import { maskPath, maskText, maskValue, parsed, Secrets } from './masking.ts';

/** The number of bytes of each body that are kept. */
const MAX_BODY_BYTES = 4_096;
/** The number of characters of a long body that are searched for secrets. It is more than are kept, so that no secret is cut in two. */
const MAX_SEARCHED_CHARACTERS = 2 * MAX_BODY_BYTES;

/** A request and its answer as they were transferred. */
export interface AnsweredRequest {
  clientId: string;
  /** The cell in which the client lives. */
  cell: number;
  at: Date;
  method: string;
  /** Path and query. */
  url: string;
  status: number;
  ms: number;
  requestId: string;
  application: string;
  /** The access token. */
  token: string;
  graphql: boolean;
  requestBody: string | null;
  responseBody: string | null;
  /** Names of query parameters that the operation does not know. */
  ignoredParameters: string[];
}

/** The form in which the log keeps a request: without secrets, and with short bodies. */
export interface LoggedRequest {
  client_id: string;
  at: Date;
  method: string;
  path: string;
  status: number;
  code: string | null;
  details: string | null;
  ms: number;
  request_id: string;
  application: string;
  request_body: string | null;
  response_body: string | null;
  ignored_parameters: string[];
}

/** The log entry of a request. Tokens, secrets, passwords, verification codes and the values of extra headers are masked in all its parts. */
export function logEntry(request: AnsweredRequest): LoggedRequest {
  const secrets = new Secrets();
  secrets.hide(request.token);
  const path = maskPath(request.url, secrets);
  const sent = request.requestBody === null ? null : mask(request.requestBody, request.graphql, secrets);
  const answer = request.responseBody === null ? undefined : parsedIfNeeded(request);
  const body =
    answer !== undefined && request.graphql
      ? JSON.stringify(maskValue(answer, secrets, 'open', sent?.isSecret))
      : request.responseBody;
  const show = (text: string | null) =>
    text === null ? null : kept(secrets.strike(text.slice(0, MAX_SEARCHED_CHARACTERS)));
  const fault = faultOf(answer);
  return {
    client_id: request.clientId,
    at: request.at,
    method: request.method,
    path: secrets.strike(path),
    status: request.status,
    code: show(fault.code),
    details: show(fault.details),
    ms: request.ms,
    request_id: request.requestId,
    application: request.application,
    request_body: show(sent?.body ?? null),
    response_body: show(body),
    ignored_parameters: request.ignoredParameters.map((name) => kept(secrets.strike(name))),
  };
}

interface MaskedBody {
  body: string;
  isSecret?: (name: string) => boolean;
}

function mask(text: string, graphql: boolean, secrets: Secrets): MaskedBody {
  return (graphql ? maskGraphql(text, secrets) : undefined) ?? { body: maskText(text, secrets) };
}

/** Only GraphQL answers contain secrets, and only refusals contain a code. Others may be large, and are not parsed. */
function parsedIfNeeded({ graphql, status, responseBody }: AnsweredRequest): unknown {
  return graphql || status >= 400 ? parsed(responseBody ?? '') : undefined;
}

/** The code and the details of a refusal: from an ErrorMessage, or from the first of GraphQL's errors. */
function faultOf(answer: unknown): { code: string | null; details: string | null } {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const { code, details, errors } = fieldsOf(answer);
  if (text(code) !== null) return { code: text(code), details: text(details) };
  const { message, extensions } = fieldsOf(listOf(errors)[0]);
  return { code: text(fieldsOf(extensions).code), details: text(message) };
}

/** The beginning of a text, in whole characters, in a form that PostgreSQL can store. */
function kept(text: string): string {
  const bytes = Buffer.from(text.toWellFormed().replaceAll('\0', '\ufffd'));
  return new TextDecoder().decode(bytes.subarray(0, MAX_BODY_BYTES), { stream: true });
}

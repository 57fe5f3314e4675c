import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { Session, Sessions } from '../../identity/sessions.ts';
import { requireSession } from './session.ts';

/** The pages call the client API here, with their cookie in place of a token. */
const PREFIX = '/app/api';

const PAGE_CALLS = new WeakSet<IncomingMessage>();

/** The operation that a call of the pages means; the address of every other request stays as it is. */
export function rewriteUrl(request: IncomingMessage): string {
  const url = request.url ?? '/';
  if (!url.startsWith(`${PREFIX}/`)) return url;
  PAGE_CALLS.add(request);
  return url.slice(PREFIX.length);
}

export function isPageCall(request: FastifyRequest): boolean {
  return PAGE_CALLS.has(request.raw);
}

/** What a call of the pages may do: as with an access token of the person for `lombard-app`. @throws Problem as `requireSession` */
export async function sessionOfCall(context: Context, request: FastifyRequest, sessions: Sessions): Promise<Session> {
  return sessions.findStored((await requireSession(context, request)).token_sha256);
}

import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { Session, Sessions } from '../../identity/tokens/sessions.ts';
import { PageCalls } from '../page/page-calls.ts';
import { requireSession } from './session.ts';

/** The pages call the client API here, with their cookie in place of a token. */
export const APP_CALLS = new PageCalls('/app/api');

/** What a call of the pages may do: as with an access token of the person for `lombard-app`. @throws Problem as `requireSession` */
export async function sessionOfCall(context: Context, request: FastifyRequest, sessions: Sessions): Promise<Session> {
  return sessions.findStored((await requireSession(context, request)).token_sha256);
}

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import { updateContact } from '../../identity/people/contact.ts';
import { findPagePerson } from '../../identity/people/page-person.ts';
import {
  endPageSession,
  listPageSessions,
  type PageSession,
  signOutEverywhere,
} from '../../identity/sign-in/page-session.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { LANGUAGES } from '../../values/language.ts';
import { closed } from '../../values/schemas.ts';
import { uuidPath } from '../schemas/schemas.ts';
import { requireSession, sessionCookie, tellSessionEnd } from './session.ts';
import type { OwnSession, SessionAnswer } from './session-answer.ts';

const Profile = Type.Object(
  {
    language: Type.Optional(Type.Union([Type.Enum([...LANGUAGES]), Type.Null()])),
    approval_mails: Type.Optional(Type.Boolean()),
  },
  closed,
);

/** What the pages read and change about the person and its sessions (docs/pages.md). */
export function dataRoutes(app: FastifyInstance, context: Context): void {
  const { pool, clock, vault, config } = context;
  const actOf = ({ contact_id: id }: PageSession, requestId: string): Act => ({
    now: clock.now(),
    actor: `contact:${id}`,
    requestId,
  });

  app.get('/app/session', async (request, reply) => {
    try {
      return await shownSession(context, await requireSession(context, request));
    } catch (error) {
      if (error instanceof Problem && error.code === 'authentication_failed')
        await tellSessionEnd(context, request, reply);
      throw error;
    }
  });
  // Keys, the pointer and navigation count as activity. A page that only polls does not call this.
  app.post('/app/session/activity', async (request, reply) => {
    await requireSession(context, request, true);
    return reply.code(204).send();
  });
  app.delete('/app/session', async (request, reply) => {
    const { id, contact_id: contactId } = await requireSession(context, request);
    await transaction(pool, (tx) => endPageSession(tx, { id, contactId, now: clock.now() }));
    return reply.header('set-cookie', sessionCookie(context, undefined)).code(204).send();
  });

  app.get('/app/sessions', async (request): Promise<OwnSession[]> => {
    const own = await requireSession(context, request);
    const wanted = { contactId: own.contact_id, now: clock.now(), idleMs: config.appIdle };
    const sessions = await listPageSessions(pool, wanted);
    return sessions.map(({ id, browser, created_at, last_active_at }) => ({
      id,
      browser,
      created_at: created_at.toISOString(),
      last_active_at: last_active_at.toISOString(),
      current: id === own.id,
    }));
  });
  app.delete('/app/sessions', async (request, reply) => {
    const { contact_id: contactId } = await requireSession(context, request);
    await transaction(pool, (tx) => signOutEverywhere(tx, contactId, clock.now()));
    return reply.header('set-cookie', sessionCookie(context, undefined)).code(204).send();
  });
  const session = { schema: { params: uuidPath('session_id', 'Session'), hide: true } };
  app.delete<{ Params: { session_id: string } }>('/app/sessions/:session_id', session, async (request, reply) => {
    const { contact_id: contactId } = await requireSession(context, request);
    const { session_id: id } = request.params;
    const end = { id, contactId, now: clock.now() };
    const ended = isUuid(id) && (await transaction(pool, (tx) => endPageSession(tx, end)));
    if (!ended) throw new Problem('not_found', { field: 'session_id', message: 'is not a session of this person' });
    return reply.code(204).send();
  });

  app.patch<{ Body: Static<typeof Profile> }>(
    '/app/profile',
    { schema: { body: Profile, hide: true } },
    async (request) => {
      const session = await requireSession(context, request);
      const change = { contactId: session.contact_id, patch: request.body };
      await transaction(pool, (tx) => updateContact(tx, actOf(session, request.id), vault, change));
      return shownSession(context, session);
    },
  );
}

/** The person, its clients, and the remaining time of the session. */
async function shownSession({ pool, clock, config }: Context, session: PageSession): Promise<SessionAnswer> {
  const person = await findPagePerson(pool, session.contact_id);
  if (!person) throw new Problem('authentication_failed', 'the person no longer exists');
  return {
    ...person,
    person: person.contact_id,
    now: clock.now().toISOString(),
    idle_seconds: config.appIdle / 1_000,
    idle_at: new Date(session.last_active_at.getTime() + config.appIdle).toISOString(),
    expires_at: session.expires_at.toISOString(),
  };
}

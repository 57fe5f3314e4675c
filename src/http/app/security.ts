import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import { OAuthError } from '../../identity/oauth-error.ts';
import { findContact, updateContact } from '../../identity/people/contact.ts';
import {
  type BegunSetup,
  beginAuthenticatorSetup,
  confirmAuthenticator,
  isFreshSignIn,
  newRecoveryCodes,
} from '../../identity/second-factor/authenticator-setup.ts';
import type { RecoveryCodes } from '../../identity/second-factor/recovery-code.ts';
import { keepPageSession, type PageSession } from '../../identity/sign-in/page-session.ts';
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../identity/sign-in/password.ts';
import { checkPassword } from '../../identity/sign-in/sign-in.ts';
import { Problem } from '../../values/errors.ts';
import { closed } from '../../values/schemas.ts';
import { requireSession } from './session.ts';

/** The most characters of a sealed setup. */
const MAX_SETUP_LENGTH = 1_000;
/** The most characters of a code with blanks. */
const MAX_CODE_LENGTH = 20;

const CurrentPassword = Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH });
const NewPassword = Type.Object(
  {
    current_password: CurrentPassword,
    new_password: Type.String({ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH }),
  },
  closed,
);
const Confirmed = Type.Object({ current_password: Type.Optional(CurrentPassword) }, closed);
const FirstCode = Type.Object(
  {
    setup: Type.String({ minLength: 1, maxLength: MAX_SETUP_LENGTH }),
    verification_code: Type.String({ minLength: 1, maxLength: MAX_CODE_LENGTH }),
  },
  closed,
);

/** What a person changes about its own sign-in: the password, the authenticator, the recovery codes (docs/pages.md). */
export function securityRoutes(app: FastifyInstance, context: Context): void {
  const { pool, clock, vault, config } = context;
  const actOf = ({ contact_id: id }: PageSession, requestId: string): Act => ({
    now: clock.now(),
    actor: `contact:${id}`,
    requestId,
  });

  app.post<{ Body: Static<typeof NewPassword> }>(
    '/app/profile/password',
    { schema: { body: NewPassword, hide: true } },
    async (request, reply) => {
      const session = await requireSession(context, request);
      await confirmPassword(context, session, request.body.current_password);
      const passwordHash = await hashPassword(request.body.new_password, 'new_password');
      await transaction(pool, async (tx) => {
        const change = { contactId: session.contact_id, patch: { passwordHash } };
        await updateContact(tx, actOf(session, request.id), vault, change);
        await keepPageSession(tx, session);
      });
      return reply.code(204).send();
    },
  );
  app.post<{ Body: Static<typeof Confirmed> }>(
    '/app/profile/authenticator',
    { schema: { body: Confirmed, hide: true } },
    async (request): Promise<BegunSetup> => {
      const session = await requireSession(context, request);
      await confirmPerson(context, session, request.body.current_password);
      const { email, contact_id: contactId } = await findContact(pool, session.contact_id);
      const of = { vault, issuer: config.institution.name, now: clock.now() };
      return beginAuthenticatorSetup(of, { contactId, email });
    },
  );
  app.post<{ Body: Static<typeof FirstCode> }>(
    '/app/profile/authenticator/confirmation',
    { schema: { body: FirstCode, hide: true } },
    async (request, reply): Promise<RecoveryCodes> => {
      const session = await requireSession(context, request);
      const { setup, verification_code: code } = request.body;
      const given = { contactId: session.contact_id, setup, code };
      const codes = await transaction(pool, (tx) => confirmAuthenticator(tx, actOf(session, request.id), vault, given));
      reply.code(201);
      return { recovery_codes: codes };
    },
  );
  app.post<{ Body: Static<typeof Confirmed> }>(
    '/app/profile/recovery-codes',
    { schema: { body: Confirmed, hide: true } },
    async (request, reply): Promise<RecoveryCodes> => {
      const session = await requireSession(context, request);
      await confirmPerson(context, session, request.body.current_password);
      const act = actOf(session, request.id);
      const codes = await transaction(pool, (tx) => newRecoveryCodes(tx, act, session.contact_id));
      reply.code(201);
      return { recovery_codes: codes };
    },
  );
}

/**
 * Confirms that it is the person itself. Somebody who finds an unattended browser does not know the password.
 * @throws Problem invalid_body, like `confirmPassword`
 */
async function confirmPerson(context: Context, session: PageSession, password: string | undefined): Promise<void> {
  if (password !== undefined) return confirmPassword(context, session, password);
  if (await isFreshSignIn(context.pool, session, context.clock.now())) return;
  throw new Problem('invalid_body', { field: 'current_password', message: 'is required: the sign-in was a while ago' });
}

/** @throws Problem invalid_body if the password is wrong; rate_limited after too many wrong ones */
async function confirmPassword({ pool, clock }: Context, session: PageSession, password: string): Promise<void> {
  const { email } = await findContact(pool, session.contact_id);
  await checkPassword(pool, clock, { email, password }).catch((error) => {
    if (!(error instanceof OAuthError)) throw error;
    if (error.retryAfter !== undefined)
      throw new Problem('rate_limited', error.message, { cause: error, retryAfterSeconds: error.retryAfter });
    throw new Problem('invalid_body', { field: 'current_password', message: 'is wrong' }, { cause: error });
  });
}

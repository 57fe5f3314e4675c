import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { findContactLock, unlockContact } from '../../identity/people/contact.ts';
import { inviteContact } from '../../identity/sign-in/password-link.ts';
import { Nullable } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, idPath, jsonAnswer } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { IDENTITY, READ, UNLOCK } from './listener.ts';

const READ_LOCK = operation('GET /contacts/{contact_id}/lock', {
  config: READ,
  schema: {
    operationId: 'getContactLock',
    tags: ['contacts'],
    summary: 'Read whether a contact is locked',
    description: 'Until when it cannot sign in because somebody guessed too often; null: it is not locked.',
    params: idPath('contact_id'),
    response: {
      200: jsonAnswer(
        'The locks',
        Type.Object(
          {
            password_locked_until: Nullable(Type.String({ format: 'date-time' })),
            second_factor_locked_until: Nullable(Type.String({ format: 'date-time' })),
          },
          {
            title: 'ContactLock',
            examples: [{ password_locked_until: '2026-07-01T09:30:00.000Z', second_factor_locked_until: null }],
          },
        ),
      ),
      ...errors(403, 404, 502, 'contact_not_found'),
    },
  },
});

const UNLOCK_CONTACT = operation('POST /contacts/{contact_id}/unlock', {
  config: UNLOCK,
  schema: {
    operationId: 'unlockContact',
    tags: ['contacts'],
    summary: 'Lift the lock of a contact that guessed too often',
    description: 'Sign-in is possible again at once. A new password does the same.',
    params: idPath('contact_id'),
    response: {
      204: { description: 'It can sign in again', type: 'null' },
      ...errors(403, 404, 502, 'contact_not_found'),
    },
  },
});

const INVITE = operation('POST /contacts/{contact_id}/invite', {
  config: IDENTITY,
  schema: {
    operationId: 'inviteContact',
    tags: ['contacts'],
    summary: 'Mail a contact the link with which it chooses its first password',
    description: 'The link is good for three days and once. A newer one ends it.',
    params: idPath('contact_id'),
    response: {
      204: { description: 'The mail is under way', type: 'null' },
      ...errors(403, 404, 409, 502, 'contact_not_found', 'transition_not_allowed'),
    },
  },
});

export type ContactLockOperations = typeof READ_LOCK | typeof UNLOCK_CONTACT | typeof INVITE;

/** Whether a contact can sign in: its locks, lifting them, and the mail with a link for the first password (docs/operator-interface.md). */
export function operatorContactLockRoutes(app: FastifyInstance, context: Context): void {
  serve(app, READ_LOCK, ({ params, now }) => findContactLock(context.pool, params.contact_id, now));
  serve(
    app,
    UNLOCK_CONTACT,
    change(context, 204, (tx, act, request) => unlockContact(tx, act, request.params.contact_id)),
  );
  serve(
    app,
    INVITE,
    change(context, 204, (tx, act, request) => inviteContact(tx, act, request.params.contact_id)),
  );
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listSignInAttempts, SIGN_IN_OUTCOMES } from '../../monitoring/sign-in-attempts.ts';
import { Nullable } from '../../values/schemas.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, jsonAnswer, listRequest, Paging, TOTAL_COUNT } from '../schemas/schemas.ts';
import { READ } from './listener.ts';

const Query = Type.Object({
  contact_id: Type.Optional(Type.String({ minLength: 1, description: 'Only of this contact' })),
  email: Type.Optional(Type.String({ minLength: 1, description: 'Only with this email, in any case of letters' })),
  ...periodQuery('Attempted'),
  ...Paging,
});
const text = (description: string) => Nullable(Type.String({ description }));
const Attempt = Type.Object(
  {
    at: Type.String(),
    outcome: Type.Enum(SIGN_IN_OUTCOMES, {
      description:
        'second_factor_required: the password was right, and the second factor is still to come. disabled: the contact is disabled, ' +
        'whatever the password was',
    }),
    contact_id: text('Null where no contact has the email'),
    email: text('Null where no contact is known and what was typed is not an email'),
    application: text('The client_id of the application'),
    address: Type.String({ description: 'The IP address, as far as LOMBARD_PROXIES are believed' }),
    request_id: Type.String({ description: 'The header x-request-id of the answer' }),
  },
  { title: 'SignInAttempt' },
);

const LIST = operation('GET /sign-ins', {
  config: READ,
  schema: {
    operationId: 'listSignIns',
    tags: ['support'],
    summary: 'List attempts to sign in, the newest first',
    description:
      'The attempts of the last 90 days. A process keeps at most 1,000 a minute, and counts the rest in ' +
      'lombard_journal_entries_dropped_total.',
    querystring: Query,
    response: { 200: jsonAnswer('A page of attempts', Type.Array(Attempt), TOTAL_COUNT), ...errors(400, 403, 502) },
  },
});

export type SignInOperations = typeof LIST;

/** GET /sign-ins (docs/operator-interface.md, Find out what happened). */
export function operatorSignInRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, (request, reply) => list(context, request, reply));
}

async function list({ pool, journals }: Context, { query }: RequestOf<typeof LIST>, reply: FastifyReply) {
  await journals.signIns.write();
  const attempts = await listSignInAttempts(pool, {
    ...listRequest(query),
    contactId: query.contact_id,
    email: query.email,
    ...periodOf(query),
  });
  return sendList(reply, attempts);
}

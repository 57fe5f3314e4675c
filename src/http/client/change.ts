import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import { confirmSession } from '../../identity/tokens/sessions.ts';
import type { StoredAnswer } from '../../operator/idempotency.ts';
import { runChange, sendAnswer } from '../server/change.ts';
import {
  checkClient,
  checkEnabled,
  checkPermission,
  checkSecondFactor,
  contactAct,
  type Needed,
  neededBy,
} from './caller.ts';

type Work<T> = (tx: Transaction, act: Act) => Promise<T>;

/**
 * Makes a contact's change in one transaction, which checks the token again. The listener's check may be a second old, but a change is
 * refused as soon as a revocation has been answered (docs/decisions.md, 1).
 * @param permission that the change needs; by default the route's
 * @throws Problem authentication_failed, token_expired, client_not_found, client_disabled, permission_denied, and those of the work
 */
export async function contactChange<T>(
  context: Context,
  request: FastifyRequest,
  work: Work<T>,
  permission?: Needed,
): Promise<T> {
  let result: T | undefined;
  await runChange(context, request, {
    confirm: confirming(context, request, permission),
    work: async (tx) => {
      result = await work(tx, contactAct(request));
      return undefined;
    },
  });
  return result as T;
}

/**
 * Like `contactChange`, under the request's Idempotency-Key, and sends the answer. With `validate_only` the work is done and undone. The
 * answer is then the one for success, without what would be made (`request.validateOnly`).
 */
export async function answerChange(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  work: Work<StoredAnswer>,
): Promise<FastifyReply> {
  const answer = await runChange(context, request, {
    keyed: request.keyed,
    tried: request.validateOnly,
    confirm: confirming(context, request),
    work: (tx) => work(tx, contactAct(request)),
  });
  return sendAnswer(reply, answer);
}

/** Like `contactChange`, for a change that is only tried: it is done and undone. @returns the answer for success */
export async function triedChange<T>(context: Context, request: FastifyRequest, work: Work<T>): Promise<T> {
  let result: T | undefined;
  await runChange(context, request, {
    tried: true,
    confirm: confirming(context, request),
    work: async (tx) => {
      result = await work(tx, contactAct(request));
      return undefined;
    },
  });
  return result as T;
}

/** Like `answerChange`, if something else must happen before the answer is sent. @returns the answer, and whether it is new */
export async function keyedChange(
  context: Context,
  request: FastifyRequest,
  work: Work<StoredAnswer>,
): Promise<{ answer: StoredAnswer; isNew: boolean }> {
  const answer = await runChange(context, request, {
    keyed: request.keyed,
    confirm: confirming(context, request),
    work: (tx) => work(tx, contactAct(request)),
  });
  return { answer, isNew: answer.headers?.['idempotency-replayed'] === undefined };
}

function confirming(
  { clock }: Context,
  request: FastifyRequest,
  permission: Needed = neededBy(request),
): (tx: Transaction) => Promise<void> {
  const { session, clientId } = request.caller;
  return async (tx) => {
    const { client: found, secondFactor } = await confirmSession(tx, clock, { session, clientId });
    const client = checkClient(found, 'client_id');
    checkEnabled(client, 'client_id');
    checkPermission(client.permissions, permission);
    if (request.routeOptions.config.secondFactor) checkSecondFactor(client, secondFactor);
  };
}

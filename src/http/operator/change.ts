import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { type Transaction, transaction } from '../../database/database.ts';
import { claimKey, MAX_IDEMPOTENCY_KEY, storeAnswer } from '../../operator/idempotency.ts';
import { confirmOperator } from '../../operator/operator.ts';
import { Problem } from '../../values/errors.ts';
import { locationOf, type Sent, sendJson } from '../schemas/reply.ts';
import { holdScope } from '../server/cells.ts';
import { reasonOf } from './reason.ts';

/** The operator who makes a request, and why, for the audit trail. @throws Problem as `reasonOf` */
export function operatorAct(request: FastifyRequest): Act {
  const { actor, staff } = request.operator;
  return { now: request.now, actor, staff, reason: reasonOf(request), requestId: request.id };
}

/** What a change answers: the value of its work. A text is JSON that is written already. */
type Result<Value> = [Extract<Value, string>] extends [never] ? (Value extends object ? Value : undefined) : never;

/**
 * The handler of a change: does the work in one transaction, together with the request's idempotency key, and answers with its
 * result as JSON and, where the route says so, with the address of what was made.
 * @param status of the first answer; a replayed answer has the same, and the header `idempotency-replayed: true`
 */
export function change<R extends FastifyRequest, Value>(
  context: Context,
  status: number,
  work: (tx: Transaction, act: Act, request: R) => Promise<Value>,
): (request: R, reply: FastifyReply) => Promise<Sent<Result<Value>>> {
  return async (request, reply) => {
    const key = request.method === 'POST' ? idempotencyKey(request) : undefined;
    const act = operatorAct(request);
    const answer = await transaction(context.pool, async (tx) => {
      await confirmOperator(tx, request.operator, request.now);
      if (request.cellScope) await holdScope(tx, request);
      if (key === undefined) return { status, body: asText(await work(tx, act, request)), replayed: false };
      const keyed = { key, sha256: fingerprint(request) };
      const known = await claimKey(tx, context.vault, keyed, request.now);
      if (known) return { ...known, replayed: true };
      const fresh = { status, body: asText(await work(tx, act, request)) };
      await storeAnswer(tx, context.vault, keyed, fresh);
      return { ...fresh, replayed: false };
    });
    if (answer.replayed) reply.header('idempotency-replayed', 'true');
    reply.code(answer.status);
    const { location } = request.routeOptions.config;
    if (location) reply.header('location', locationOf(location, answer.body));
    return answer.body === '' ? reply.send() : sendJson(reply, answer.body);
  };
}

function asText(result: unknown): string {
  if (result === undefined) return '';
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** The idempotency key of a request, if it has one. @throws Problem invalid_parameter */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw new Problem('invalid_parameter', {
      field: 'Idempotency-Key',
      message: `must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`,
    });
  }
  return key;
}

/** The hash that tells whether two requests with one key are the same request. */
function fingerprint(request: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    .digest();
}

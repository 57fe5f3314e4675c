import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database/database.ts';
import type { StoredAnswer } from '../../operator/idempotency.ts';
import { confirmOperator } from '../../operator/operator.ts';
import { tracing } from '../../process/tracing.ts';
import { Problem } from '../../values/errors.ts';
import { locationOf, type Sent } from '../schemas/reply.ts';
import { idempotencyKey, runChange, sendAnswer } from '../server/change.ts';
import { reasonOf } from './reason.ts';

/** The operator who makes a request, with the reason, for the audit trail. @throws Problem like `reasonOf` */
export function operatorAct(request: FastifyRequest): Act {
  const { actor, staff } = request.operator;
  return { now: request.now, actor, staff, reason: reasonOf(request), requestId: request.id };
}

/** The answer of a change: the value of its work. A text is JSON that is already written. */
type Result<Value> = [Extract<Value, string>] extends [never] ? (Value extends object ? Value : undefined) : never;

/**
 * Makes the handler of a change. It does the work in one transaction, together with the request's idempotency key. It answers with the
 * result as JSON and, if the route says so, with the address of what was made.
 * @param status of the first answer; a replayed answer has the same one, and the header `idempotency-replayed: true`
 */
export function change<R extends FastifyRequest, Value>(
  context: Context,
  status: number,
  work: (tx: Transaction, act: Act, request: R) => Promise<Value>,
): (request: R, reply: FastifyReply) => Promise<Sent<Result<Value>>> {
  return async (request, reply) => {
    const act = operatorAct(request);
    const answer = await runChange(context, request, {
      ...guardOf(request),
      work: async (tx) => ({ status, body: asText(await work(tx, act, request)) }),
    });
    return sendChange(reply, answer);
  };
}

/** What a change of an operator depends on: the operator's rights, and the key. @throws Problem like `idempotencyKey` */
function guardOf(request: FastifyRequest) {
  const key = request.method === 'POST' ? idempotencyKey(request) : undefined;
  const { tokenId, sessionId, actor } = request.operator;
  return {
    caller: `${actor} ${tokenId} ${sessionId}`,
    keyed: key === undefined ? undefined : { key, sha256: fingerprint(request) },
    confirm: (tx: Transaction) => confirmOperator(tx, request.operator, request.now),
  };
}

/** A change of an operator that may share a transaction with others (`shareChanges`). */
export interface SharedChange extends ReturnType<typeof guardOf> {
  request: FastifyRequest;
  act: Act;
  /** The trace span that it belongs to. */
  traceparent: string | null | undefined;
}

/** Describes the change of a request. @throws Problem like `reasonOf` and `idempotencyKey` */
export function sharedChange(request: FastifyRequest): SharedChange {
  return { request, act: operatorAct(request), traceparent: tracing()?.current(), ...guardOf(request) };
}

/** The answers to changes that share a transaction. @param outcomes for each its value, why it was refused, or undefined if it was left out */
export function answersOf(
  status: number,
  outcomes: readonly (string | object | Problem | undefined)[],
): (StoredAnswer | Problem | undefined)[] {
  return outcomes.map((outcome) =>
    outcome === undefined || outcome instanceof Problem ? outcome : { status, body: asText(outcome) },
  );
}

/** Sends the answer to a change, with the address of what was made if the route says so. */
export function sendChange(reply: FastifyReply, answer: StoredAnswer): FastifyReply {
  const { location } = reply.request.routeOptions.config;
  if (location) reply.header('location', locationOf(location, answer.body));
  return sendAnswer(reply, answer);
}

function asText(result: unknown): string {
  if (result === undefined) return '';
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** A hash that shows whether two requests with one key are the same request. */
function fingerprint(request: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    .digest();
}

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Act, Context } from '../../context.ts';
import { type Transaction, transaction } from '../../database.ts';
import { Problem } from '../../errors.ts';
import { claimKey, MAX_IDEMPOTENCY_KEY, storeAnswer } from '../../operator/idempotency.ts';
import { findOperatorToken, type OperatorRole, type OperatorToken } from '../../operator/token.ts';
import { openApi } from '../openapi.ts';
import { sendJson } from '../reply.ts';
import { createServer } from '../server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    operator: OperatorToken;
  }
  interface FastifyContextConfig {
    /** Operator roles that may use the route besides admin; none given: admin only. */
    roles?: OperatorRole[];
  }
}

/** Feeds data: the core's token may do it. */
export const FEED: { roles: OperatorRole[] } = { roles: ['core'] };
/** Reads: every role may. */
export const READ: { roles: OperatorRole[] } = { roles: ['core', 'support'] };
/** Redelivers and replays: support staff may. */
export const SUPPORT: { roles: OperatorRole[] } = { roles: ['support'] };

export type OperatorRoutes = (app: FastifyInstance, context: Context) => void | Promise<void>;

/** The operator listener: operator tokens with roles, errors as ErrorMessage, idempotent POSTs (docs/operator-interface.md). */
export async function createOperatorListener(context: Context, routes: OperatorRoutes[]): Promise<FastifyInstance> {
  const app = createServer({ name: 'operator', log: context.log, requestTimeout: 0 });
  app.decorateRequest('operator', null as unknown as OperatorToken);
  if (!app.hasRequestDecorator('now')) app.decorateRequest('now', null as unknown as Date);
  app.addHook('onRequest', async (request) => {
    request.now = context.clock.now();
    const { open, roles = [] } = request.routeOptions.config;
    if (request.is404 || open) return;
    const header = request.headers.authorization ?? '';
    if (!/^bearer +\S+$/i.test(header)) {
      throw new Problem(
        'authentication_failed',
        'header.Authorization: must be `Bearer <operator token>` (the sandbox writes one to operator-token in its data directory)',
      );
    }
    request.operator = await findOperatorToken(context.pool, header.slice(7).trim(), request.now);
    if (request.operator.role !== 'admin' && !roles.includes(request.operator.role)) {
      throw new Problem(
        'permission_denied',
        `header.Authorization: a token of the role ${request.operator.role} may not do this`,
      );
    }
  });
  await openApi(app, context, {
    title: 'Lombard operator interface',
    path: '/openapi.json',
    url: () => '/',
    description: 'How the institution puts clients, payments and transactions in, and looks after the service.',
  });
  for (const register of routes) await app.register(async (scope) => register(scope, context));
  return app;
}

/** Who acts, for the audit trail. */
export function actOf(request: FastifyRequest): Act {
  return { now: request.now, actor: `operator:${request.operator.name}`, requestId: request.id };
}

/**
 * Runs a change in one transaction together with its idempotency key and answers with its result as JSON.
 * @param status of the first answer; a replayed one has the same and the header `idempotency-replayed: true`
 */
export async function change(
  request: FastifyRequest,
  reply: FastifyReply,
  context: Context,
  status: number,
  work: (tx: Transaction, act: Act) => Promise<unknown>,
): Promise<FastifyReply> {
  const key = request.method === 'POST' ? idempotencyKey(request) : undefined;
  const act = actOf(request);
  const answer = await transaction(context.pool, async (tx) => {
    if (key === undefined) return { status, body: render(await work(tx, act)), replayed: false };
    const keyed = { key, sha256: fingerprint(request) };
    const known = await claimKey(tx, context.vault, keyed, request.now);
    if (known) return { ...known, replayed: true };
    const fresh = { status, body: render(await work(tx, act)) };
    await storeAnswer(tx, context.vault, keyed, fresh);
    return { ...fresh, replayed: false };
  });
  if (answer.replayed) reply.header('idempotency-replayed', 'true');
  reply.code(answer.status);
  if (answer.body === '') return reply.send();
  return reply.type('application/json; charset=utf-8').send(answer.body);
}

function render(result: unknown): string {
  if (result === undefined) return '';
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** The key of a request, if it has one. */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw new Problem('invalid_parameter', `header.Idempotency-Key: must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`);
  }
  return key;
}

function fingerprint(request: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(`${request.method} ${request.url}\n${JSON.stringify(request.body ?? null)}`)
    .digest();
}

/** A page of a list, and how many entries there are in all. */
export function sendList(reply: FastifyReply, list: { rows: unknown[]; total: number }): FastifyReply {
  return sendValue(reply.header('x-total-count', list.total), list.rows);
}

/** A value as JSON, its decimals with exactly their digits (json.ts). */
export function sendValue(reply: FastifyReply, value: unknown): FastifyReply {
  return sendJson(reply, JSON.stringify(value));
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { listActs } from '../../../approvals/acts.ts';
import { approvalScene } from '../../../approvals/approvers.ts';
import type { Context } from '../../../context.ts';
import { decidePayment } from '../../../payments/contact-actions.ts';
import { paymentBodies } from '../../../payments/payment.ts';
import { presentationOf } from '../../../payments/presentation.ts';
import { redeem } from '../../../payments/step-up/verification.ts';
import { paymentMarks } from '../../../payments/views/marks.ts';
import { paymentOutcomes } from '../../../payments/views/steps.ts';
import { londonDay } from '../../../values/calendar.ts';
import { Problem } from '../../../values/errors.ts';
import { ClientId, closed } from '../../../values/schemas.ts';
import { paymentId } from '../../schemas/payment-schema.ts';
import { toProblem } from '../../schemas/problem.ts';
import { sendJson, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, type Page, Paging, Reason, rowsOf } from '../../schemas/schemas.ts';
import { contactChange } from '../change.ts';

/** Payments that one call approves, or asks marks for. */
const MAX_PAYMENTS = 200;

const Ids = Type.Array(paymentId({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: MAX_PAYMENTS,
  uniqueItems: true,
});
const Wanted = Type.Object({ payment_ids: Ids }, closed);
const Approvals = Type.Object({ payment_ids: Ids, reason: Reason }, closed);
const Own = Type.Object({ client_id: ClientId, ...Paging });

/** What the page of approvals needs in addition to the client API: marks, one's own decisions, approving many payments at once. */
export function approvalsData(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  // By POST, because two hundred identifiers do not fit into an address; it changes nothing.
  app.post<{ Body: Static<typeof Wanted> }>('/app/data/marks', { schema: { body: Wanted } }, async (request, reply) => {
    const { clientId } = request.caller;
    const marked = { clientId, paymentIds: request.body.payment_ids, today: londonDay(request.now) };
    return sendValue(reply, await paymentMarks(pool, marked));
  });

  app.get<{ Querystring: Page }>('/app/data/decisions', { schema: { querystring: Own } }, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    const { rows, total } = await listActs(pool, { clientId, contactId }, rowsOf(request.query));
    const view = { clientId, viewer: contactId, now: request.now, ...presentationOf(context) };
    const bodies = await paymentBodies(
      pool,
      view,
      rows.map((row) => row.payment_id),
    );
    const acts = rows.map(({ action, at, on_behalf }) => JSON.stringify({ action, at, on_behalf }).slice(0, -1));
    reply.header('x-total-count', total);
    return sendJson(reply, `[${acts.map((act, index) => `${act},"payment":${bodies[index]}}`).join(',')}]`);
  });

  app.get('/app/data/approval-scene', { schema: { querystring: ClientQuery } }, async (request, reply) =>
    sendValue(reply, await approvalScene(pool, request.caller.clientId)),
  );

  app.post<{ Body: Static<typeof Approvals> }>(
    '/app/data/approvals',
    { config: { permission: 'can_authorise_payments' }, schema: { body: Approvals } },
    async (request, reply) => sendValue(reply, await approveAll(context, request, request.body)),
  );
}

/** An approval of several that could not be given, and how the payment stands. */
interface Failure {
  payment_id: string;
  code: string;
  details: string;
}

/**
 * Approves payments one after the other, each in a transaction of its own: one that fails stops none of the others.
 * @throws Problem step_up_required where the client asks for a code with each approval: nothing is approved then
 */
async function approveAll(
  context: Context,
  request: FastifyRequest,
  { payment_ids: ids, reason }: Static<typeof Approvals>,
): Promise<object> {
  const { clientId, contactId } = request.caller;
  const approved: string[] = [];
  const failures: Failure[] = [];
  for (const id of ids) {
    const decision = { clientId, contactId, paymentId: id, action: 'authorise' as const, reason };
    try {
      await contactChange(context, request, async (tx, act) => {
        await redeem(tx, decision, { proof: undefined, now: act.now });
        await decidePayment(tx, act, presentationOf(context), decision);
      });
      approved.push(id);
    } catch (error) {
      // Switched on in between, it is the reason of those that are left.
      if (approved.length === 0 && error instanceof Problem && NEEDS_CODE.has(error.code)) throw error;
      if (!(error instanceof Problem)) request.log.error(error, 'an approval of several failed');
      const { code, details } = toProblem(error);
      failures.push({ payment_id: id, code, details });
    }
  }
  const outcomes = await paymentOutcomes(
    context.pool,
    clientId,
    failures.map((failure) => failure.payment_id),
  );
  const failed = failures.map((failure) => ({
    ...failure,
    outcome: outcomes.find((outcome) => outcome.payment_id === failure.payment_id) ?? null,
  }));
  return { approved, failed };
}

const NEEDS_CODE = new Set<string>(['step_up_required', 'second_factor_missing']);

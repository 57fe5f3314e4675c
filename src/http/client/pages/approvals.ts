import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { listActs } from '../../../approvals/acts.ts';
import { approvalScene } from '../../../approvals/approvers.ts';
import type { Context } from '../../../context.ts';
import { paymentBodies } from '../../../payments/payment.ts';
import { presentationOf } from '../../../payments/presentation.ts';
import { paymentMarks } from '../../../payments/views/marks.ts';
import { paymentOutcomes } from '../../../payments/views/steps.ts';
import { londonDay } from '../../../values/calendar.ts';
import { ClientId, closed } from '../../../values/schemas.ts';
import { paymentId } from '../../schemas/payment-schema.ts';
import { sendJson, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, type Page, Paging, Reason, rowsOf } from '../../schemas/schemas.ts';
import { decideAll } from '../many-decisions.ts';

/** The most payments that one call approves, or asks marks for. */
const MAX_PAYMENTS = 200;

const Ids = Type.Array(paymentId({ minLength: 1, maxLength: 64 }), {
  minItems: 1,
  maxItems: MAX_PAYMENTS,
  uniqueItems: true,
});
const Wanted = Type.Object({ payment_ids: Ids }, closed);
const Proof = { challenge_id: Type.Optional(Type.String()), verification_code: Type.Optional(Type.String()) };
const Approvals = Type.Object({ payment_ids: Ids, reason: Reason, ...Proof }, closed);
const Own = Type.Object({ client_id: ClientId, ...Paging });

/** What the page of approvals needs besides the client API: marks, one's own decisions, and approving many payments at once. */
export function approvalsData(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  // A POST, because two hundred identifiers do not fit into an address. It changes nothing.
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
    // The same rights as for opening a challenge: a contact who orders may approve what nobody else would have to. Each payment is judged
    // separately.
    {
      config: { permission: { anyOf: ['can_authorise_payments', 'can_create_payments'] } },
      schema: { body: Approvals },
    },
    async (request, reply) => sendValue(reply, await approveAll(context, request, request.body)),
  );
}

/** Approves payments like PATCH /payments, and reports the current state of each that failed. */
async function approveAll(
  context: Context,
  request: FastifyRequest,
  body: Static<typeof Approvals>,
): Promise<{ approved: string[]; failed: object[] }> {
  const decided = await decideAll(context, request, 'authorise', body);
  const failed = decided.filter(({ done }) => !done);
  const ids = failed.map(({ payment_id: id }) => id);
  const outcomes = new Map(
    (await paymentOutcomes(context.pool, request.caller.clientId, ids)).map((each) => [each.payment_id, each]),
  );
  return {
    approved: decided.filter(({ done }) => done).map(({ payment_id: id }) => id),
    failed: failed.map(({ payment_id: id, code, details }) => ({
      ...{ payment_id: id, code, details: details ?? '' },
      outcome: outcomes.get(id) ?? null,
    })),
  };
}

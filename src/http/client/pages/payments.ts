import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../../context.ts';
import { LatestChanges } from '../../../feed/latest.ts';
import { readSetbacks } from '../../../orders/setbacks.ts';
import { readSearch } from '../../../payments/search/search-parameters.ts';
import { recentActivity } from '../../../payments/views/activity.ts';
import { exportPayments } from '../../../payments/views/export.ts';
import { readFigures } from '../../../payments/views/figures.ts';
import { findNamed } from '../../../payments/views/find.ts';
import { paymentNews } from '../../../payments/views/news.ts';
import { readOutlook } from '../../../payments/views/outlook.ts';
import { paymentOutcomes, paymentSteps } from '../../../payments/views/steps.ts';
import { londonDay } from '../../../values/calendar.ts';
import { Problem } from '../../../values/errors.ts';
import { ClientId, closed, Text } from '../../../values/schemas.ts';
import { PaymentFilters } from '../../schemas/payment-filters.ts';
import { paymentId } from '../../schemas/payment-schema.ts';
import { sendValue } from '../../schemas/reply.ts';
import { ClientQuery } from '../../schemas/schemas.ts';

/** The most exports at once in a process. Each holds a connection while its reader reads. */
const MAX_EXPORTS = 4;
/** Seconds after which an export that found no slot should be tried again. */
const RETRY_AFTER_SECONDS = 10;

const Path = Type.Object({ payment_id: paymentId({}) });
const Sought = Type.Object({ q: Text('A payment id, UETR, reference or amount; a part of a name', 140) }, closed);
const Search = Type.Object({ client_id: ClientId, ...PaymentFilters });

/** What the pages of payments need besides the client API: figures, a payment's history, an export, and whether anything has changed. */
export function paymentsData(app: FastifyInstance, context: Context): void {
  const { pool, backgroundPool, patience } = context;
  const latest = new LatestChanges(pool);
  let exports = 0;

  app.get('/app/data/home', { schema: { querystring: ClientQuery } }, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    const today = londonDay(request.now);
    // One after the other: many people open this page at the same time, and each may take only one connection of the pool.
    const figures = await readFigures(pool, { clientId, contactId, today });
    const activity = await recentActivity(pool, clientId);
    return sendValue(reply, { today, ...figures, activity });
  });

  app.get('/app/data/outlook', { schema: { querystring: ClientQuery } }, async (request, reply) => {
    const { clientId, permissions } = request.caller;
    const [now, today] = [request.now, londonDay(request.now)];
    const outlook = await readOutlook(pool, clientId, today);
    const setbacks = await readSetbacks(pool, {
      ...{ clientId, now, today },
      mayReadFiles: permissions.can_create_payments && permissions.can_manage_multipayments,
      mayReadWebhooks: permissions.can_manage_webhooks,
    });
    return sendValue(reply, { ...outlook, setbacks });
  });

  // A POST, so that no address contains a name. It changes nothing.
  app.post<{ Body: Static<typeof Sought> }>(
    '/app/data/find',
    { schema: { querystring: ClientQuery, body: Sought } },
    async (request, reply) => {
      const q = request.body.q.trim();
      if (q === '') throw new Problem('invalid_body', { field: 'q', message: 'must not be only white space' });
      return sendValue(reply, await findNamed(pool, request.caller.clientId, q));
    },
  );

  app.get<{ Params: Static<typeof Path> }>(
    '/app/data/payments/:payment_id',
    { schema: { params: Path, querystring: ClientQuery } },
    async (request, reply) => {
      const { clientId } = request.caller;
      const id = request.params.payment_id;
      const [steps, [outcome], notifications] = await Promise.all([
        paymentSteps(pool, clientId, id),
        paymentOutcomes(pool, clientId, [id]),
        paymentNews(pool, clientId, id),
      ]);
      return sendValue(reply, { ...steps, outcome, notifications });
    },
  );

  app.get<{ Querystring: Static<typeof Search> }>(
    '/app/data/payments.csv',
    { schema: { querystring: Search } },
    async (request, reply) => {
      const search = readSearch(request.query);
      if (exports >= MAX_EXPORTS)
        throw new Problem('rate_limited', 'too many exports at once', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      const { clientId, contactId: viewer } = request.caller;
      const parts = exportPayments(backgroundPool, { clientId, viewer }, search);
      const file = Readable.from(
        whileTaken(parts, patience.untakenMs, () => reply.raw.destroy()),
        { highWaterMark: 1 },
      );
      exports += 1;
      file.once('close', () => {
        exports -= 1;
      });
      reply.header('content-disposition', `attachment; filename="payments-${londonDay(request.now)}.csv"`);
      return reply.type('text/csv; charset=utf-8').send(file);
    },
  );

  // Every open page asks every few seconds. The answer comes from memory, so it counts for no rate limit.
  app.get(
    '/app/data/changes',
    { config: { unlimited: true }, schema: { querystring: ClientQuery } },
    async (request, reply) => sendValue(reply, { position: await latest.of(request.caller.clientId) }),
  );
}

/**
 * The parts of an answer. If the reader stops without hanging up, the answer is given up; otherwise it would hold a connection and its
 * snapshot for ever.
 */
async function* whileTaken(
  parts: AsyncGenerator<string>,
  untakenMs: number,
  giveUp: () => void,
): AsyncGenerator<string> {
  for await (const part of parts) {
    const timer = setTimeout(giveUp, untakenMs);
    try {
      yield part;
    } finally {
      clearTimeout(timer);
    }
  }
}

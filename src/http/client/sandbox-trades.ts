import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { bookedTrade, TRADE_STATUSES } from '../../exchange/trade-declaration.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { advanceTrade } from '../../sandbox/trade.ts';
import { Trade } from '../schemas/event-schemas.ts';
import { orderBody } from '../schemas/order-body.ts';
import { ClientQuery, idPath, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { answerChange } from './change.ts';

const Advance = orderBody(
  {
    to: Type.Optional(
      Type.Enum(['next', ...TRADE_STATUSES], {
        description: 'next: the next step of the ordinary course; or a trade status. Default: next',
      }),
    ),
  },
  { title: 'SandboxTradeAdvance', examples: [{ to: 'Funds In Full' }] },
);
const TradePath = idPath('trade_id');

const ADVANCE = {
  preValidation: allowNoBody,
  schema: {
    operationId: 'advanceSandboxTrade',
    tags: ['sandbox'],
    summary: 'Advance a trade',
    description:
      'Gives a trade a status as the institution would, with its notification. What is held for it is booked once it is funded. Exists ' +
      'in the sandbox only.',
    params: TradePath,
    querystring: ClientQuery,
    body: Advance,
    response: {
      200: jsonAnswer('The trade', Trade),
      ...orderErrors(400, 403, 502, 'trade_not_found', 'transition_not_allowed'),
    },
  },
};

/** POST /sandbox/trades/{trade_id}/advance (docs/sandbox.md). */
export function sandboxTradeRoutes(app: FastifyInstance, context: Context): void {
  app.post<{ Params: Static<typeof TradePath>; Body: Static<typeof Advance> }>(
    '/sandbox/trades/:trade_id/advance',
    ADVANCE,
    async (request, reply) => {
      const { clientId } = request.caller;
      const { to = 'next' } = request.body;
      const tradeId = request.params.trade_id;
      return answerChange(context, request, reply, async (tx, act) => {
        const { apiUrl } = presentationOf(context);
        const trade = await advanceTrade(tx, act, apiUrl, { clientId, tradeId, to });
        return { status: 200, body: JSON.stringify(bookedTrade(trade)) };
      });
    },
  );
}

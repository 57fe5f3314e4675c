import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ServiceClock } from '../../calendar.ts';
import type { Context } from '../../context.ts';
import { type ClockMove, moveClock } from '../../sandbox/clock.ts';
import { closed, errors, Instant, jsonAnswer } from '../schemas.ts';
import { change } from './change.ts';
import { READ, SYSTEM } from './listener.ts';

const ClockBody = Type.Object(
  {
    at: Type.Optional(Instant('The instant that it shows next')),
    advance_seconds: Type.Optional(Type.Number({ description: 'Seconds forward; negative: backward' })),
  },
  { ...closed, title: 'ClockMove', examples: [{ advance_seconds: 86_400 }] },
);
const Clock = Type.Object(
  {
    now: Type.String({ format: 'date-time' }),
    offset_ms: Type.Integer({ description: 'Milliseconds that it is ahead of the machine' }),
  },
  { title: 'Clock', examples: [{ now: '2026-07-02T09:15:00.000Z', offset_ms: 86_400_000 }] },
);
const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getClock',
    tags: ['sandbox'],
    summary: "Read the service's clock",
    response: { 200: jsonAnswer('The clock', Clock), ...errors(502) },
  },
};

const MOVE = {
  config: SYSTEM,
  schema: {
    operationId: 'moveClock',
    tags: ['sandbox'],
    summary: "Move the service's clock",
    body: ClockBody,
    response: { 200: jsonAnswer('The clock', Clock), ...errors(400, 502) },
  },
};

const RESET = {
  config: SYSTEM,
  schema: {
    operationId: 'resetClock',
    tags: ['sandbox'],
    summary: "Set the clock back to the machine's time",
    response: { 200: jsonAnswer('The clock', Clock), ...errors(502) },
  },
};

/** The sandbox's clock (docs/operator-interface.md). Production has no such addresses. */
export function operatorClockRoutes(app: FastifyInstance, context: Context): void {
  if (context.config.environment !== 'sandbox') return;
  const clock = context.clock as ServiceClock;
  const shown = () => ({ now: clock.now().toISOString(), offset_ms: clock.offset });
  app.get('/clock', READ_ONE, async () => shown());
  app.put<{ Body: ClockMove }>(
    '/clock',
    MOVE,
    change(context, 200, async (tx, act, request) => {
      clock.offset = await moveClock(tx, act, clock, request.body);
      return shown();
    }),
  );
  app.delete(
    '/clock',
    RESET,
    change(context, 200, async (tx, act) => {
      clock.offset = await moveClock(tx, act, clock, undefined);
      return shown();
    }),
  );
}

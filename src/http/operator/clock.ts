import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { type ClockMove, moveClock } from '../../sandbox/clock.ts';
import type { ServiceClock } from '../../values/calendar.ts';
import { closed, Instant } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';
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
const READ_ONE = operation('GET /clock', {
  config: READ,
  schema: {
    operationId: 'getClock',
    tags: ['sandbox'],
    summary: "Read the service's clock",
    response: { 200: jsonAnswer('The clock', Clock), ...errors(502, 'invalid_parameter') },
  },
});

const MOVE = operation('PUT /clock', {
  config: SYSTEM,
  schema: {
    operationId: 'moveClock',
    tags: ['sandbox'],
    summary: "Move the service's clock",
    body: ClockBody,
    response: { 200: jsonAnswer('The clock', Clock), ...errors(400, 502) },
  },
});

const RESET = operation('DELETE /clock', {
  config: SYSTEM,
  schema: {
    operationId: 'resetClock',
    tags: ['sandbox'],
    summary: "Set the clock back to the machine's time",
    response: { 200: jsonAnswer('The clock', Clock), ...errors(502) },
  },
});

export type ClockOperations = typeof READ_ONE | typeof MOVE | typeof RESET;

/** The sandbox's clock (docs/operator-interface.md). Production has no such addresses. */
export function operatorClockRoutes(app: FastifyInstance, context: Context): void {
  if (context.config.environment !== 'sandbox') return;
  const clock = context.clock as ServiceClock;
  const machine = () => clock.now().getTime() - clock.offset;
  const shown = (offset: number) => ({ now: new Date(machine() + offset).toISOString(), offset_ms: offset });
  serve(app, READ_ONE, async () => shown(clock.offset));
  serve(app, MOVE, (request, reply) => move(request, reply, request.body));
  serve(app, RESET, (request, reply) => move(request, reply, undefined));

  async function move(request: FastifyRequest, reply: FastifyReply, input: ClockMove | undefined) {
    let moved: number | undefined;
    const moveAndShow = change(context, 200, async (tx, act) => {
      moved = await moveClock(tx, act, clock, input);
      return shown(moved);
    });
    await moveAndShow(request, reply);
    // Done only after the commit. Earlier, ClockFollower, which reads the database, would have undone it.
    if (moved === undefined) return reply;
    clock.offset = moved;
    context.activity.stirAll();
    return reply;
  }
}

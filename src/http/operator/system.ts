import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { verifyAudit } from '../../audit.ts';
import { parseInstant, type ServiceClock } from '../../calendar.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../errors.ts';
import { metrics } from '../../metrics.ts';
import { moveClock } from '../../sandbox/clock.ts';
import { errors, Instant, Paging } from '../schemas.ts';
import { change, READ, sendValue } from './listener.ts';

const ClockBody = Type.Object(
  {
    at: Type.Optional(Instant('The instant it becomes')),
    advance_seconds: Type.Optional(Type.Number({ description: 'Seconds forward; negative: back' })),
  },
  { additionalProperties: false, examples: [{ advance_seconds: 86_400 }] },
);
const AuditQuery = Type.Object({
  ...Paging,
  entity: Type.Optional(Type.String({ description: 'Noun, as payment' })),
  entity_id: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String({ description: 'operator:<name>, contact:<contact_id> or service:<part>' })),
  from: Type.Optional(Instant('From, included')),
  to: Type.Optional(Instant('To, excluded')),
});
/** Entries of the sandbox's mailbox and text list that one answer shows: the newest. */
const MAX_MESSAGES = 1_000;

interface AuditParameters {
  page: number;
  page_size: number;
  entity?: string;
  entity_id?: string;
  client_id?: string;
  actor?: string;
  from?: string;
  to?: string;
}

/** Clock, mailbox, texts, audit, health and metrics (docs/operator-interface.md). */
export function operatorSystemRoutes(app: FastifyInstance, context: Context): void {
  const { pool, backgroundPool } = context;
  const clock = context.clock as ServiceClock;

  if (context.config.environment === 'sandbox') {
    const shownClock = () => ({ now: clock.now().toISOString(), offset_ms: clock.offset });
    app.get(
      '/clock',
      { config: READ, schema: { tags: ['sandbox'], summary: "Read the service's clock", response: errors(502) } },
      async () => shownClock(),
    );
    app.put<{ Body: { at?: string; advance_seconds?: number } }>(
      '/clock',
      {
        config: {},
        schema: { tags: ['sandbox'], summary: "Move the service's clock", body: ClockBody, response: errors(400, 502) },
      },
      (request, reply) => {
        const { at, advance_seconds: seconds } = request.body;
        if ((at === undefined) === (seconds === undefined))
          throw new Problem('invalid_body', 'body: needs at or advance_seconds, one of them');
        return change(request, reply, context, 200, async (tx, act) => {
          clock.offset = await moveClock(tx, act, clock, request.body);
          return shownClock();
        });
      },
    );
    app.delete(
      '/clock',
      {
        config: {},
        schema: { tags: ['sandbox'], summary: "Set the clock back to the machine's time", response: errors(502) },
      },
      (request, reply) =>
        change(request, reply, context, 200, async (tx, act) => {
          clock.offset = await moveClock(tx, act, clock, undefined);
          return shownClock();
        }),
    );
    app.get(
      '/mailbox',
      {
        config: READ,
        schema: { tags: ['sandbox'], summary: 'Mails that had no SMTP server, newest first', response: errors(502) },
      },
      async (_request, reply) => {
        const { rows } = await pool.query<{ mail: object; message_id: string; sent_at: Date }>(
          'select mail, message_id, sent_at from mailbox order by id desc limit $1',
          [MAX_MESSAGES],
        );
        return sendValue(
          reply,
          rows.map((row) => ({ ...row.mail, message_id: row.message_id, sent_at: row.sent_at.toISOString() })),
        );
      },
    );
    app.get(
      '/text-messages',
      {
        config: READ,
        schema: { tags: ['sandbox'], summary: 'Texts that had no gateway, newest first', response: errors(502) },
      },
      async (_request, reply) => {
        const { rows } = await pool.query<{ recipient: string; text: string; sent_at: Date }>(
          'select recipient, text, sent_at from text_messages order by id desc limit $1',
          [MAX_MESSAGES],
        );
        return sendValue(
          reply,
          rows.map((row) => ({ to: row.recipient, text: row.text, sent_at: row.sent_at.toISOString() })),
        );
      },
    );
  }

  app.get<{ Querystring: AuditParameters }>(
    '/audit',
    {
      config: READ,
      schema: { tags: ['audit'], summary: 'Read the audit trail', querystring: AuditQuery, response: errors(400, 502) },
    },
    async (request, reply) => {
      const { page, page_size: size, from, to, ...equal } = request.query;
      const conditions: string[] = [];
      const values: unknown[] = [];
      const add = (condition: string, value: unknown) => {
        values.push(value);
        conditions.push(condition.replace('?', `$${values.length}`));
      };
      for (const column of ['entity', 'entity_id', 'client_id', 'actor'] as const) {
        if (equal[column] !== undefined) add(`${column} = ?`, equal[column]);
      }
      for (const [name, text, condition] of [
        ['from', from, 'at >= ?'],
        ['to', to, 'at < ?'],
      ] as const) {
        if (text === undefined) continue;
        const instant = parseInstant(text);
        if (!instant)
          throw new Problem('invalid_parameter', `query.${name}: must be an ISO 8601 timestamp with an offset`);
        add(condition, instant);
      }
      const where = conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
      const { rows } = await pool.query(
        `select id, at, actor, request_id, action, entity, entity_id, client_id, before, after from audit ${where} order by id limit ${size} offset ${(page - 1) * size}`,
        values,
      );
      const total = await pool.query<{ total: number }>(`select count(*) as total from audit ${where}`, values);
      return sendValue(reply.header('x-total-count', total.rows[0]?.total ?? 0), rows);
    },
  );
  app.get(
    '/audit/verify',
    { config: READ, schema: { tags: ['audit'], summary: 'Prove the chain of the audit trail', response: errors(502) } },
    () => verifyAudit(backgroundPool),
  );

  app.get(
    '/health/live',
    { config: { open: true }, schema: { tags: ['health'], security: [], summary: 'The process lives' } },
    async () => ({ status: 'ok' }),
  );
  app.get(
    '/health/ready',
    { config: { open: true }, schema: { tags: ['health'], security: [], summary: 'The service can answer' } },
    async () => {
      await pool.query('select 1');
      return { status: 'ok' };
    },
  );
  app.get(
    '/metrics',
    { config: READ, schema: { tags: ['health'], summary: "Metrics in Prometheus' text format" } },
    async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { listAudit, verifyAudit } from '../../audit.ts';
import type { Context } from '../../context.ts';
import { optionalInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import { errors, Instant, jsonAnswer, listAnswer, Nullable, type Page, Paging, rowsOf } from '../schemas.ts';
import { AUDIT } from './listener.ts';

const AuditQuery = Type.Object({
  ...Paging,
  entity: Type.Optional(Type.String({ description: 'Noun, such as payment' })),
  entity_id: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String({ description: 'operator:<name>, contact:<contact_id> or service:<part>' })),
  from: Type.Optional(Instant('From, included')),
  to: Type.Optional(Instant('To, excluded')),
});
interface AuditParameters extends Page {
  entity?: string;
  entity_id?: string;
  client_id?: string;
  actor?: string;
  from?: string;
  to?: string;
}
const value = Nullable(Type.Unknown({ description: 'The entity, without its secrets' }));
const AuditRow = Type.Object(
  {
    id: Type.Integer(),
    at: Type.String({ format: 'date-time' }),
    actor: Type.String({ description: 'operator:<name>, contact:<contact_id> or service:<part>' }),
    request_id: Type.String(),
    action: Type.String(),
    entity: Type.String(),
    entity_id: Type.String(),
    client_id: Nullable(Type.String()),
    before: value,
    after: value,
  },
  {
    title: 'AuditRow',
    examples: [
      {
        id: 1,
        at: '2026-07-01T09:15:00.000Z',
        actor: 'operator:core feed',
        request_id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
        action: 'create',
        entity: 'client',
        entity_id: 'CLI000001',
        client_id: 'CLI000001',
        before: null,
        after: { client_id: 'CLI000001', client_name: 'Acme Ltd' },
      },
    ],
  },
);
const AuditVerification = Type.Object(
  {
    valid: Type.Boolean(),
    rows: Type.Integer({ description: 'Rows that were verified' }),
    first_invalid: Nullable(Type.Integer({ description: 'The id of the first row that is not as it was sealed' })),
  },
  { title: 'AuditVerification', examples: [{ valid: true, rows: 22, first_invalid: null }] },
);

const LIST = {
  config: AUDIT,
  schema: {
    operationId: 'listAudit',
    tags: ['audit'],
    summary: 'Read the audit trail',
    querystring: AuditQuery,
    response: { 200: listAnswer('A page of rows, the oldest first', AuditRow), ...errors(400, 502) },
  },
};

const VERIFY = {
  config: AUDIT,
  schema: {
    operationId: 'verifyAudit',
    tags: ['audit'],
    summary: 'Verify the chain of the audit trail',
    response: { 200: jsonAnswer('Whether the chain is valid', AuditVerification), ...errors(502) },
  },
};

/** The audit trail (docs/operator-interface.md). */
export function operatorAuditRoutes(app: FastifyInstance, context: Context): void {
  app.get<{ Querystring: AuditParameters }>('/audit', LIST, async ({ query }, reply) => {
    const filter = {
      entity: query.entity,
      entityId: query.entity_id,
      clientId: query.client_id,
      actor: query.actor,
      from: optionalInstant(query.from, 'from'),
      to: optionalInstant(query.to, 'to'),
    };
    return sendList(reply, await listAudit(context.pool, filter, rowsOf(query)));
  });
  app.get('/audit/verify', VERIFY, () => verifyAudit(context.backgroundPool));
}

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { listAudit, verifyAudit } from '../../audit.ts';
import type { Context } from '../../context.ts';
import { optionalInstant } from '../instant.ts';
import { sendList } from '../reply.ts';
import { errors, Instant, type Page, Paging, rowsOf } from '../schemas.ts';
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

const LIST = {
  config: AUDIT,
  schema: {
    operationId: 'listAudit',
    tags: ['audit'],
    summary: 'Read the audit trail',
    querystring: AuditQuery,
    response: errors(400, 502),
  },
};

const VERIFY = {
  config: AUDIT,
  schema: {
    operationId: 'verifyAudit',
    tags: ['audit'],
    summary: 'Verify the chain of the audit trail',
    response: errors(502),
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

import type { FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';

/** The contact who makes a request, for the audit trail. */
export function contactAct(request: FastifyRequest): Act {
  return { now: request.now, actor: `contact:${request.caller.contactId}`, requestId: request.id };
}

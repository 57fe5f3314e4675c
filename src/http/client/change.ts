import type { FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { type Transaction, transaction } from '../../database/database.ts';
import { confirmSession, type Permissions } from '../../identity/tokens/sessions.ts';
import { holdScope } from '../server/cells.ts';
import { checkClient, checkEnabled, checkPermission, contactAct } from './caller.ts';

/**
 * Makes a contact's change in one transaction. The listener's look at the token can be a second old, so the transaction begins with
 * one of its own: a change is refused from the moment on at which the revocation was answered (docs/decisions.md, 1).
 * @param permission that the change needs; default: the route's
 * @throws Problem authentication_failed, token_expired, client_not_found, client_disabled, permission_denied, and those of the work
 */
export function contactChange<T>(
  { pool, clock }: Context,
  request: FastifyRequest,
  work: (tx: Transaction, act: Act) => Promise<T>,
  permission: keyof Permissions | undefined = request.routeOptions.config.permission,
): Promise<T> {
  return transaction(pool, async (tx) => {
    const { session, clientId } = request.caller;
    const client = checkClient(await confirmSession(tx, clock, { session, clientId }), 'client_id');
    checkEnabled(client, 'client_id');
    checkPermission(client.permissions, permission);
    if (request.cellScope) await holdScope(tx, request);
    return work(tx, contactAct(request));
  });
}

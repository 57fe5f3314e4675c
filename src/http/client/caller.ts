import type { FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import type { Permission, Permissions } from '../../identity/people/permission.ts';
import type { SessionClient } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';

/** The permissions that an operation needs. */
export type Needed = Permission | readonly Permission[] | undefined;

/**
 * A client of others gets the same answer as one that does not exist, so that callers cannot probe for clients.
 * @param field that names the client
 * @throws Problem client_not_found
 */
export function checkClient(client: SessionClient | undefined, field: string): SessionClient {
  if (!client) throw new Problem('client_not_found', `${field}: is not a client of this contact`);
  return client;
}

/** @throws Problem client_disabled */
export function checkEnabled(client: SessionClient, field: string): void {
  if (!client.enabled)
    throw new Problem('client_disabled', `${field}: the client is disabled; contact the institution`);
}

/** @param needed in the order in which they are told. @throws Problem permission_denied, the first one that is missing */
export function checkPermission(permissions: Permissions, needed: Needed): void {
  const missing = [needed ?? []].flat().find((permission) => !permissions[permission]);
  if (missing) throw new Problem('permission_denied', `the contact needs ${missing} for this client`);
}

/** The permissions that a request needs. */
export function neededBy(request: FastifyRequest): Needed {
  const { permission, permissionOf } = request.routeOptions.config;
  return permissionOf?.(request) ?? permission;
}

/** The contact who makes a request, for the audit trail. */
export function contactAct(request: FastifyRequest): Act {
  return { now: request.now, actor: `contact:${request.caller.contactId}`, requestId: request.id };
}

/** The public address at which the caller reads something of its client. @param path below the client API, its ids encoded */
export function clientAddress({ addresses }: Context, { caller }: FastifyRequest, path: string): string {
  return `${addresses.api}${path}?client_id=${encodeURIComponent(caller.clientId)}`;
}

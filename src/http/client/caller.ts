import type { FastifyRequest } from 'fastify';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import type { Permission, Permissions } from '../../identity/people/permission.ts';
import type { SessionClient } from '../../identity/tokens/sessions.ts';
import { Problem } from '../../values/errors.ts';

/** The permissions that an operation needs: one, all of several, or any of several. */
export type Needed = Permission | readonly Permission[] | { anyOf: readonly Permission[] } | undefined;

/**
 * Checks that the contact may act for a client. Otherwise the answer is the same as for a client that does not exist, so that callers
 * cannot probe for clients.
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

/** The permissions that a request needs, according to its route. */
export function neededBy(request: FastifyRequest): Needed {
  const { permission } = request.routeOptions.config;
  return typeof permission === 'function' ? permission(request) : permission;
}

/**
 * @param needed in the order in which missing ones are reported.
 * @throws Problem permission_denied, for the first missing permission
 */
export function checkPermission(permissions: Permissions, needed: Needed): void {
  if (typeof needed === 'object' && 'anyOf' in needed) {
    if (!needed.anyOf.some((permission) => permissions[permission])) checkPermission(permissions, needed.anyOf);
    return;
  }
  const missing = [needed ?? []].flat().find((permission) => !permissions[permission]);
  if (missing) throw new Problem('permission_denied', `the contact needs ${missing} for this client`);
}

/** A contact who orders for a client that requires a second factor must have one. @throws Problem second_factor_missing */
export function checkSecondFactor({ stepUp }: SessionClient, secondFactor: boolean): void {
  if (!stepUp || secondFactor) return;
  throw new Problem(
    'second_factor_missing',
    'contact: needs a second factor (an authenticator or a phone) to order payments of this client',
  );
}

/** The contact who makes a request, for the audit trail. */
export function contactAct(request: FastifyRequest): Act {
  return { now: request.now, actor: `contact:${request.caller.contactId}`, requestId: request.id };
}

/** The public address at which the caller can read a record of its client. @param path below the client API, with its ids encoded */
export function clientAddress({ addresses }: Context, { caller }: FastifyRequest, path: string): string {
  return `${addresses.api}${path}?client_id=${encodeURIComponent(caller.clientId)}`;
}

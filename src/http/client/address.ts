import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';

/** The public address at which the caller reads something of its client. @param path below the client API, its ids encoded */
export function clientAddress({ addresses }: Context, { caller }: FastifyRequest, path: string): string {
  return `${addresses.api}${path}?client_id=${encodeURIComponent(caller.clientId)}`;
}

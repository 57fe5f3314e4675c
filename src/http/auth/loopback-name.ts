import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { ownAddress } from '../page/own-page.ts';

/** Sends a browser that opened a page at another name of this machine to the page's own address. */
export async function useOwnAddress(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.method !== 'GET' || !request.routeOptions.config.page) return;
  const own = ownAddress(context.addresses.auth, request);
  if (own !== undefined) await reply.redirect(own, 307);
}

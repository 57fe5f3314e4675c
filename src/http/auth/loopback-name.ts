import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Sends a browser that opened a page at another name of this machine to the page's own address: `localhost` and `127.0.0.1` are two
 * origins, so that the page's form could not be sent, and its cookie would not come back. Only between names of this machine, with the
 * same port: a proxy that names another host to the service is left alone.
 */
export async function useOwnAddress(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.method !== 'GET' || !request.routeOptions.config.page) return;
  const own = new URL(context.addresses.auth);
  const opened = `${own.protocol}//${request.headers.host ?? ''}`;
  if (!URL.canParse(opened)) return;
  const { hostname, port } = new URL(opened);
  const elsewhere = hostname !== own.hostname && port === own.port;
  if (elsewhere && LOOPBACK.has(hostname) && LOOPBACK.has(own.hostname))
    await reply.redirect(`${own.origin}${request.url}`, 307);
}

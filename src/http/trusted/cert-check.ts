import type { FastifyInstance } from 'fastify';
import { Problem } from '../../values/errors.ts';
import { peerOf } from '../server/peer.ts';

/**
 * `GET /cert_check`: the subject DN of the caller's certificate as plain text (the service interface, Mutual TLS).
 * A listener without certificates answers 404.
 */
export function certCheckRoute(app: FastifyInstance): void {
  app.get('/cert_check', { config: { open: true } }, (request, reply) => {
    const peer = peerOf(request.raw);
    if (!peer) throw new Problem('not_found', 'path: /cert_check is served at the trusted address only');
    return reply.type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(peer.subject);
  });
}

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';

/** The holder of the client certificate that a request came with. */
export interface Peer {
  /** Subject DN, RFC 4514, as OpenSSL prints it: for people. */
  subject: string;
  /** The subject as `canonicalDistinguishedName` spells it: for comparing with registered ones. */
  canonicalSubject: string;
  /** `x5t#S256`: what tokens are bound to (RFC 8705). */
  thumbprint: string;
}

// Kept beside the connection or request, never in a header: nothing that a caller sends can end up here.
const peers = new WeakMap<object, Peer>();

/** Notes whose certificate was judged and accepted, for a connection (mutual TLS) or for one request (behind a proxy). */
export function setPeer(carrier: object, peer: Peer): void {
  peers.set(carrier, peer);
}

/** Whose accepted certificate a request came with; undefined on every listener but the trusted one. */
export function peerOf(request: IncomingMessage): Peer | undefined {
  return peers.get(request) ?? peers.get(request.socket);
}

/**
 * `GET /cert_check`: the subject DN of the caller's certificate as plain text (the service interface, Mutual TLS).
 * On a listener without certificates the address does not exist.
 */
export function certCheckRoute(app: FastifyInstance): void {
  app.get('/cert_check', { config: { open: true } }, (request, reply) => {
    const peer = peerOf(request.raw);
    if (!peer) throw new Problem('not_found', 'path: /cert_check is served at the trusted address only');
    return reply.type('text/plain; charset=utf-8').send(peer.subject);
  });
}

import type { IncomingMessage } from 'node:http';

/** The holder of the client certificate that a request came with. */
export interface Peer {
  /** Subject DN, RFC 4514, as OpenSSL prints it, for people. */
  subject: string;
  /** The subject as `canonicalDistinguishedName` spells it, for comparison with registered ones. */
  canonicalSubject: string;
  /** `x5t#S256`, which tokens are bound to (RFC 8705). */
  thumbprint: string;
}

// Kept in a map and never in a header, so that nothing a caller sends can end up here.
const peers = new WeakMap<object, Peer>();

/** Records the accepted certificate of a connection (mutual TLS) or of one request (behind a proxy). */
export function setPeer(carrier: object, peer: Peer): void {
  peers.set(carrier, peer);
}

/** The holder of a request's accepted certificate; undefined on every listener except the trusted one. */
export function peerOf(request: IncomingMessage): Peer | undefined {
  return peers.get(request) ?? peers.get(request.socket);
}

import type { IncomingMessage } from 'node:http';

/** The holder of the client certificate of a request. */
export interface Peer {
  /** Subject DN (RFC 4514) in OpenSSL's form, for people. */
  subject: string;
  /** The subject in the spelling of `canonicalDistinguishedName`, for comparison with registered subjects. */
  canonicalSubject: string;
  /** `x5t#S256`, to which tokens are bound (RFC 8705). */
  thumbprint: string;
}

// Kept in a map and never in a header, so that nothing that a caller sends can end up here.
const peers = new WeakMap<object, Peer>();

/** Records the accepted certificate of a connection (mutual TLS) or of one request (behind a proxy). */
export function setPeer(carrier: object, peer: Peer): void {
  peers.set(carrier, peer);
}

/** The holder of a request's accepted certificate; undefined on every listener except the trusted one. */
export function peerOf(request: IncomingMessage): Peer | undefined {
  return peers.get(request) ?? peers.get(request.socket);
}

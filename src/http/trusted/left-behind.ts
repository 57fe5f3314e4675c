import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';

/** An error of OpenSSL's TLS itself, in the text in which Node passes errors on. Other errors come from what TLS has called. */
const OF_TLS = /:SSL routines:/;
/** A line of such a text. */
const OF_OPENSSL = /^[0-9A-F]+:error:[0-9A-F]+:/;

/**
 * Lets a handshake go on although OpenSSL has found a wrong signature on the way. OpenSSL checks a chain of certificates before our own
 * validation can say what is wrong with it, and leaves a failed check in its list of errors. Node reads the list when it has to wait for
 * more from the caller, takes the entry for a failed handshake, and resets the connection. It does not happen if certificate and proof
 * arrive in one packet.
 *
 * A handshake that has really failed always has an error of TLS itself in the list, for example if the caller does not hold the key. So
 * this lets nobody in: a handshake that does not end is destroyed in time, and after one that ends the certificate is validated.
 */
export function ignoreErrorsLeftBehind(server: Server): void {
  const known = new WeakSet<TLSSocket>();
  // The first event of a handshake that gives access to its socket. The line itself is a secret, and is ignored.
  server.on('keylog', (_line, socket) => {
    if (known.has(socket)) return;
    known.add(socket);
    const handle = '_handle' in socket ? socket._handle : undefined;
    if (typeof handle !== 'object' || handle === null || !('onerror' in handle)) return;
    const { onerror } = handle;
    if (typeof onerror !== 'function') return;
    handle.onerror = (error: Error) => {
      if (!isLeftBehind(error.message)) onerror.call(handle, error);
    };
  });
}

/** Whether a text of OpenSSL's errors contains none that ends a handshake. */
export function isLeftBehind(message: string): boolean {
  const lines = message.trim().split('\n');
  return lines.every((line) => OF_OPENSSL.test(line) && !OF_TLS.test(line));
}

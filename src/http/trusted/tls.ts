import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Authority } from '../../certificates/authority.ts';
import { setPeer } from '../server/peer.ts';
import { answerUnparsed, type UnreadRequests } from '../server/unparsed.ts';
import { Admission, type AdmissionOptions, type Admitted } from './admission.ts';
import { loadSecureContext, loadTrustedAuthority, type TrustedFiles } from './files.ts';
import { ignoreErrorsLeftBehind } from './left-behind.ts';
import { PendingConnections, type PendingLimits } from './pending-connections.ts';
import { type RefusalLimits, refuseConnection, refuseRequest } from './refusal.ts';

interface TlsLimits extends PendingLimits, RefusalLimits {}

const TLS_LIMITS: TlsLimits = {
  handshakeMs: 10_000,
  maxPending: 1_000,
  refusalHeadMs: 5_000,
  refusalLingerMs: 2_000,
};

/** The most certificates that are read from one caller. Behind a self-signed certificate, Node's links would form a circle. */
const MAX_PRESENTED_CERTIFICATES = 10;

interface TlsOptions extends AdmissionOptions {
  /** Handles accepted requests. `peerOf(request)` returns the holder of their certificate. */
  handler: RequestListener;
  files: TrustedFiles;
  /** Receives reports of what never reaches the handler. */
  unread: Pick<UnreadRequests, 'refused'>;
  limits?: Partial<TlsLimits>;
  /** Time and size limits of the HTTP server, the same as for other listeners. */
  http?: ServerOptions;
}

/**
 * Creates the mutual-TLS listener. It speaks only TLS 1.3. It accepts a caller whose certificate `validateCertificate` accepts and whose
 * subject is registered. Others get 495, 496 or 497 with an ErrorMessage body (service interface, Mutual TLS).
 * @throws Error that names the file that cannot be used
 */
export async function createTlsListener(options: TlsOptions): Promise<TlsListener> {
  const [authority, context] = await Promise.all([
    loadTrustedAuthority(options.files),
    loadSecureContext(options.files),
  ]);
  return new TlsListener(options, authority, context);
}

/**
 * The mutual-TLS listener. A connection passes four steps: its first byte distinguishes TLS from plain HTTP; the handshake; the admission
 * of its certificate; the HTTP server. Node's own servers do the handshake and the HTTP.
 */
export class TlsListener {
  readonly server: Server;
  readonly #options: TlsOptions;
  readonly #unread: Pick<UnreadRequests, 'refused'>;
  readonly #limits: TlsLimits;
  readonly #admission: Admission;
  readonly #pending: PendingConnections;
  readonly #live = new Map<Socket, Admitted>();
  readonly #handshake: (socket: Socket) => void;
  readonly #serve: (socket: TLSSocket) => void;
  #reloading: Promise<unknown> = Promise.resolve();

  constructor(options: TlsOptions, authority: Authority, context: SecureContextOptions) {
    this.#options = options;
    this.#unread = options.unread;
    this.#limits = { ...TLS_LIMITS, ...options.limits };
    this.#admission = new Admission(authority, options);
    this.#pending = new PendingConnections(this.#limits);
    this.server = createServer({
      ...options.http,
      ...context,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: this.#limits.handshakeMs,
    });
    ignoreErrorsLeftBehind(this.server);
    const [handshake] = this.server.listeners('connection');
    const [serve] = this.server.listeners('secureConnection');
    if (!handshake || !serve) throw new Error('this version of Node has no connection listeners to run before');
    this.#handshake = (socket) => handshake.call(this.server, socket);
    this.#serve = (socket) => serve.call(this.server, socket);
    this.server.removeAllListeners('connection').removeAllListeners('secureConnection');
    this.server.on('connection', (socket: Socket) => this.#connected(socket));
    this.server.on('secureConnection', (socket: TLSSocket) => void this.#secured(socket));
    answerUnparsed(this.server, this.#unread);
    this.server.on('request', (request, response) => this.#requested(request, response));
    this.server.on('tlsClientError', (error) => options.log.debug({ err: error.message }, 'TLS handshake failed'));
  }

  /**
   * Reads the files again. Connections whose certificate is still accepted stay open; others are closed.
   * @throws Error that names the file that cannot be used; then nothing changes
   */
  reload(): Promise<{ kept: number; dropped: number }> {
    const turn = this.#reloading.then(() => this.#reload());
    this.#reloading = turn.catch(() => undefined);
    return turn;
  }

  /** Accepts no more connections. It resolves when those with a request in flight have ended. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.#pending.destroyAll();
    });
  }

  /** Handles a new connection: TLS goes on to the handshake, and plain HTTP is refused. */
  #connected(socket: Socket): void {
    this.#pending.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => {
      const start: Buffer | null = socket.read();
      if (start === null) return;
      socket.unshift(start);
      if (!looksLikeHttp(start)) return this.#handshake(socket);
      this.#pending.keep(socket);
      const details = 'connection: it must be made over HTTPS (TLS 1.3)';
      refuseConnection(socket, { code: 'https_required', details, unread: this.#unread }, this.#limits);
    });
  }

  /** Handles a finished handshake: with an admitted certificate, the connection goes on to the HTTP server. */
  async #secured(socket: TLSSocket): Promise<void> {
    this.#pending.keep(socket);
    const ignore = () => socket.destroy();
    socket.on('error', ignore);
    const result = await this.#admission.admit(presentedBy(socket));
    if (socket.destroyed) return;
    if ('code' in result) return refuseConnection(socket, { ...result, unread: this.#unread }, this.#limits);
    this.#pending.delete(socket);
    this.#live.set(socket, result);
    setPeer(socket, result.peer);
    socket.once('close', () => this.#live.delete(socket));
    socket.off('error', ignore);
    this.#serve(socket);
  }

  #requested(request: IncomingMessage, response: ServerResponse): void {
    if (!this.server.listening) response.setHeader('connection', 'close');
    const admitted = this.#live.get(request.socket);
    if (admitted && this.#admission.isCurrent(admitted)) this.#options.handler(request, response);
    else void this.#admitAgain(request, response, admitted);
  }

  /** Admits a connection again if its certificate is outside its dates, or if its registration was last checked a second ago. */
  async #admitAgain(request: IncomingMessage, response: ServerResponse, admitted: Admitted | undefined): Promise<void> {
    const result = await this.#admission.admit(admitted?.presented ?? []);
    if ('code' in result) return refuseRequest(request, response, { ...result, unread: this.#unread });
    this.#live.set(request.socket, result);
    this.#options.handler(request, response);
  }

  async #reload(): Promise<{ kept: number; dropped: number }> {
    const { files } = this.#options;
    const [authority, context] = await Promise.all([loadTrustedAuthority(files), loadSecureContext(files)]);
    this.server.setSecureContext(context);
    this.#admission.replace(authority);
    let dropped = 0;
    for (const [socket, { presented }] of this.#live) {
      if (this.#admission.validate(presented).ok) continue;
      socket.destroy();
      dropped++;
    }
    return { kept: this.#live.size - dropped, dropped };
  }
}

/** The certificates that a caller sent, its own first. Node links the others as issuers, whether or not they are. */
function presentedBy(socket: TLSSocket): Uint8Array[] {
  const presented: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate && presented.length < MAX_PRESENTED_CERTIFICATES) {
    presented.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return presented;
}

/** A request starts with a method, and a TLS record with 0x16. Everything else is left to TLS, which refuses it. */
function looksLikeHttp(start: Buffer): boolean {
  return /^[A-Za-z]/.test(start.toString('latin1', 0, 1));
}

import { constants } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import { type Authority, loadAuthority } from '../../certificates/certificate.ts';
import { setPeer } from '../peer.ts';
import { Admission, type AdmissionOptions, type Admitted } from './admission.ts';
import { type RefusalLimits, refuseConnection, refuseRequest } from './refusal.ts';

/** The suites of the service interface, Mutual TLS; all are of TLS 1.3. */
const SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

export type TrustedLimits = RefusalLimits & {
  /** Milliseconds from the connection to the end of the handshake. */
  handshake: number;
  /** Connections that are not yet, or never, handed to the HTTP server; the oldest gives way to a new one. */
  pending: number;
};

const TRUSTED_LIMITS: TrustedLimits = {
  handshake: 10_000,
  pending: 1_000,
  refusalHead: 5_000,
  refusalLinger: 2_000,
};

/** Paths of PEM files; `ca` and `crl` may have several blocks each, `cert` its intermediate certificates. */
export interface TrustedFiles {
  cert: string;
  key: string;
  ca: string[];
  crl: string[];
}

export type TrustedOptions = AdmissionOptions & {
  /** Where accepted requests go; `peerOf(request)` tells whose they are. */
  handler: RequestListener;
  files: TrustedFiles;
  limits?: Partial<TrustedLimits>;
  /** Time and size limits of the HTTP server, as of the other listeners. */
  http?: ServerOptions;
};

export interface TrustedListener {
  server: Server;
  /**
   * Reads the files again. Keeps connections whose certificate is still accepted and drops the others. Rejects, and changes nothing,
   * if a file cannot be used.
   */
  reload(): Promise<{ kept: number; dropped: number }>;
  /** Takes no more connections, resolves when those with a request under way have ended. */
  close(): Promise<void>;
}

/**
 * The mutual-TLS listener: TLS 1.3 only, every caller with a certificate that `judgeCertificate` accepts and whose
 * subject is registered; others get 495, 496 or 497 with an ErrorMessage body (the service interface, Mutual TLS).
 * A connection goes through four steps: its first byte tells TLS from plain HTTP, handshake, judgement, HTTP server.
 * @throws Error saying which file is unusable and why
 */
export async function createTrustedListener(options: TrustedOptions): Promise<TrustedListener> {
  const limits = { ...TRUSTED_LIMITS, ...options.limits };
  const first = await load(options.files);
  const admission = new Admission(first.authority, options);
  const live = new Map<Socket, Admitted>();
  const pending = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();

  const server = createServer({
    ...options.http,
    ...first.context,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshake,
  });
  const [handshake] = server.listeners('connection');
  const [serve] = server.listeners('secureConnection');
  if (!handshake || !serve) throw new Error('this Node has no listeners of its own to stand before');
  server.removeAllListeners('connection').removeAllListeners('secureConnection');

  const settle = (socket: Socket) => {
    const entry = pending.get(endpoint(socket));
    clearTimeout(entry?.timer);
    pending.delete(endpoint(socket));
  };

  server.on('connection', (socket: Socket) => {
    const key = endpoint(socket);
    if (pending.size >= limits.pending) {
      // Slow callers give way: a good handshake is over in milliseconds, so the oldest is never one of those.
      const [oldest] = pending.values();
      oldest?.socket.destroy();
      if (oldest) settle(oldest.socket);
    }
    const timer = setTimeout(() => socket.destroy(), limits.handshake);
    pending.set(key, { socket, timer });
    const forget = () => {
      if (pending.get(key)?.socket !== socket) return;
      clearTimeout(timer);
      pending.delete(key);
    };
    socket.on('close', forget);
    socket.on('error', () => socket.destroy());
    socket.once('readable', () => {
      const start: Buffer | null = socket.read();
      if (start === null) return;
      socket.unshift(start);
      if (!looksLikeHttp(start)) handshake.call(server, socket);
      else {
        clearTimeout(timer);
        refuseConnection(
          socket,
          { code: 'https_required', details: 'connection: it must be made over HTTPS (TLS 1.3)' },
          limits,
        );
      }
    });
  });

  server.on('secureConnection', (socket: TLSSocket) => {
    clearTimeout(pending.get(endpoint(socket))?.timer);
    const ignore = () => socket.destroy();
    socket.on('error', ignore);
    void admission.admit(presentedBy(socket)).then((result) => {
      if (socket.destroyed) return;
      if ('code' in result) return refuseConnection(socket, result, limits);
      settle(socket);
      live.set(socket, result);
      setPeer(socket, result.peer);
      socket.once('close', () => live.delete(socket));
      socket.off('error', ignore);
      serve.call(server, socket);
    });
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.setHeader('connection', 'close');
    const admitted = live.get(request.socket);
    if (admitted && admission.stillGood(admitted)) options.handler(request, response);
    else void again(request, response, admitted);
  });

  /** Judges a connection again whose certificate ran out of its dates, or whose registration was last seen a second ago. */
  async function again(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Admitted | undefined,
  ): Promise<void> {
    const result = await admission.admit(admitted?.presented ?? []);
    if ('code' in result) return refuseRequest(request, response, result);
    live.set(request.socket, result);
    options.handler(request, response);
  }

  server.on('tlsClientError', (error) => options.log.debug({ err: error.message }, 'TLS handshake failed'));

  let reloading: Promise<unknown> = Promise.resolve();
  async function reload(): Promise<{ kept: number; dropped: number }> {
    const next = await load(options.files);
    server.setSecureContext(next.context);
    admission.replace(next.authority);
    let dropped = 0;
    for (const [socket, { presented }] of live) {
      if (admission.judge(presented).ok) continue;
      socket.destroy();
      dropped++;
    }
    return { kept: live.size - dropped, dropped };
  }

  return {
    server,
    reload: () => {
      const turn = reloading.then(reload);
      reloading = turn.catch(() => undefined);
      return turn;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const { socket } of pending.values()) socket.destroy();
      }),
  };
}

/** What a caller sent, its own certificate first. Node links the rest as issuers, whether or not they are. */
function presentedBy(socket: TLSSocket): Uint8Array[] {
  const presented: Uint8Array[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate && presented.length < MAX_PRESENTED) {
    presented.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return presented;
}

/** Certificates read from one caller: Node would go around in a circle behind a self-signed one. */
const MAX_PRESENTED = 10;

/** A request starts with a method; a TLS record with 0x16, and whatever else is left to TLS, which refuses it. */
function looksLikeHttp(start: Buffer): boolean {
  return /^[A-Za-z]/.test(start.toString('latin1', 0, 1));
}

/** Tells connections apart; Node does not say which TLS socket stands on which connection. */
function endpoint(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

interface Material {
  authority: Authority;
  context: SecureContextOptions;
}

async function load(files: TrustedFiles): Promise<Material> {
  const [cert, key] = await Promise.all([pem(files.cert), pem(files.key)]);
  return {
    authority: await loadTrustedAuthority(files),
    context: {
      cert,
      key,
      // OpenSSL gets no authorities: it would judge certificates too, and reset connections where it finds a forgery.
      ca: [],
      minVersion: 'TLSv1.3',
      ciphers: SUITES,
      // Without tickets no session is resumed, so each connection shows its certificate.
      secureOptions: constants.SSL_OP_NO_TICKET,
    },
  };
}

/** Reads the files of authorities and revocation lists. @throws Error naming the file */
export async function loadTrustedAuthority(files: Pick<TrustedFiles, 'ca' | 'crl'>): Promise<Authority> {
  return loadAuthority(await Promise.all(files.ca.map(pem)), await Promise.all(files.crl.map(pem)));
}

async function pem(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  if (!text.includes('-----BEGIN ')) throw new Error(`${path} is not a PEM file`);
  return text;
}

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressRange } from '../../settings/settings.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import { blockList } from '../server/caller-address.ts';
import { setPeer } from '../server/peer.ts';
import { answerUnparsed, type UnreadRequests } from '../server/unparsed.ts';
import { Admission, type AdmissionOptions, type Admitted } from './admission.ts';
import { loadTrustedAuthority, type TrustedFiles } from './files.ts';
import { type Refusal, refuseRequest } from './refusal.ts';

/** The number of certificates whose verdict is cached, because a proxy sends them with every request. */
const MAX_CACHED_CERTIFICATES = 1_000;

export interface ProxiedOptions extends AdmissionOptions {
  handler: RequestListener;
  /** Receives reports of what never reaches the handler. */
  unread: Pick<UnreadRequests, 'refused'>;
  files: Pick<TrustedFiles, 'ca' | 'crl'>;
  /** Addresses of the proxies that terminate TLS (LOMBARD_TRUSTED_PROXIES). Other callers are refused. */
  proxies: readonly AddressRange[];
  http?: ServerOptions;
}

export interface ProxiedListener {
  server: Server;
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the trusted listener behind a proxy that terminates TLS. It speaks plain HTTP, with the caller's certificate in `Client-Cert` and
 * the rest of its chain in `Client-Cert-Chain` (RFC 9440). The proxy must request a certificate, remove both headers from what callers
 * send, and allow only TLS 1.3. The certificate is validated here, as without a proxy. A request from any other address came over HTTP
 * instead of HTTPS, and is answered with 497.
 * @throws Error that names the file that cannot be used
 */
export async function createProxiedListener(options: ProxiedOptions): Promise<ProxiedListener> {
  const admission = new Admission(await loadTrustedAuthority(options.files), options);
  const proxies = blockList(options.proxies);
  const cache = new BoundedMap<string, Admitted>(MAX_CACHED_CERTIFICATES);

  const server = createServer({ ...options.http }, (request, response) => void serve(request, response));
  answerUnparsed(server, options.unread);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const result = await admit(request);
    if ('code' in result) return refuseRequest(request, response, { ...result, unread: options.unread });
    setPeer(request, result.peer);
    options.handler(request, response);
  }

  async function admit(request: IncomingMessage): Promise<Admitted | Refusal> {
    if (!proxies.check(request.socket.remoteAddress ?? '', request.socket.remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4')) {
      return { code: 'https_required', details: 'connection: it must be made over HTTPS (TLS 1.3), through the proxy' };
    }
    const [leaf, chain] = [header(request, 'client-cert'), header(request, 'client-cert-chain')];
    const key = `${leaf} ${chain}`;
    const known = cache.get(key);
    if (known && admission.isCurrent(known)) return known;
    const presented = leaf === undefined ? [] : certificates(leaf, chain);
    if (!presented)
      return {
        code: 'certificate_invalid',
        details: 'header.Client-Cert: must be one certificate in the format of RFC 9440',
      };
    const result = await admission.admit(presented);
    if ('code' in result) cache.delete(key);
    else cache.set(key, result);
    return result;
  }

  return {
    server,
    reload: async () => {
      admission.replace(await loadTrustedAuthority(options.files));
      cache.clear();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Decodes byte sequences of RFC 8941 (`:base64:`): one for the certificate and a list for its chain. Undefined if one is malformed. */
function certificates(leaf: string, chain: string | undefined): Uint8Array[] | undefined {
  const items = [leaf, ...(chain === undefined ? [] : chain.split(','))].map(
    (item) => /^:([A-Za-z0-9+/]+={0,2}):$/.exec(item.trim())?.[1],
  );
  if (!items.every((item) => item !== undefined)) return undefined;
  return items.map((item) => Buffer.from(item, 'base64'));
}

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { BlockList, isIP } from 'node:net';
import { BoundedMap } from '../../bounded-map.ts';
import type { AddressRange } from '../../settings.ts';
import { setPeer } from '../peer.ts';
import { Admission, type AdmissionOptions, type Admitted } from './admission.ts';
import { type Refusal, refuseRequest } from './refusal.ts';
import { loadTrustedAuthority, type TrustedFiles } from './tls.ts';

/** Certificates whose verdict is remembered: a proxy sends them with every request. */
const MAX_REMEMBERED_CERTIFICATES = 1_000;

export type ProxiedOptions = AdmissionOptions & {
  handler: RequestListener;
  files: Pick<TrustedFiles, 'ca' | 'crl'>;
  /** Addresses of the proxies that end TLS (LOMBARD_TRUSTED_PROXIES); nobody else is served. */
  proxies: readonly AddressRange[];
  http?: ServerOptions;
};

export interface ProxiedListener {
  server: Server;
  reload(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The trusted listener behind a proxy that ends TLS: plain HTTP, with the caller's certificate in `Client-Cert` and the
 * rest of its chain in `Client-Cert-Chain` (RFC 9440). The proxy has to ask for a certificate, to remove both headers
 * from what callers send, and to allow TLS 1.3 only; what the certificate is worth is judged here as without a proxy.
 * Another address than a proxy's has by definition come over HTTP instead of HTTPS: 497.
 * @throws Error saying which file is unusable and why
 */
export async function createProxiedListener(options: ProxiedOptions): Promise<ProxiedListener> {
  const admission = new Admission(await loadTrustedAuthority(options.files), options);
  const proxies = new BlockList();
  for (const { address, prefix } of options.proxies)
    proxies.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const remembered = new BoundedMap<string, Admitted>(MAX_REMEMBERED_CERTIFICATES);

  const server = createServer({ ...options.http }, (request, response) => void serve(request, response));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const result = await admit(request);
    if ('code' in result) return refuseRequest(request, response, result);
    setPeer(request, result.peer);
    options.handler(request, response);
  }

  async function admit(request: IncomingMessage): Promise<Admitted | Refusal> {
    if (!proxies.check(request.socket.remoteAddress ?? '', request.socket.remoteFamily === 'IPv6' ? 'ipv6' : 'ipv4')) {
      return { code: 'https_required', details: 'connection: it must be made over HTTPS (TLS 1.3), through the proxy' };
    }
    const [leaf, chain] = [header(request, 'client-cert'), header(request, 'client-cert-chain')];
    const key = `${leaf} ${chain}`;
    const known = remembered.get(key);
    if (known && admission.stillGood(known)) return known;
    const presented = leaf === undefined ? [] : certificates(leaf, chain);
    if (!presented)
      return {
        code: 'certificate_invalid',
        details: 'header.Client-Cert: must be one certificate as RFC 9440 writes it',
      };
    const result = await admission.admit(presented);
    if ('code' in result) remembered.delete(key);
    else remembered.set(key, result);
    return result;
  }

  return {
    server,
    reload: async () => {
      admission.replace(await loadTrustedAuthority(options.files));
      remembered.clear();
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Byte sequences of RFC 8941: `:base64:`, one for the certificate, a list for its chain. */
function certificates(leaf: string, chain: string | undefined): Uint8Array[] | undefined {
  const items = [leaf, ...(chain === undefined ? [] : chain.split(','))].map(
    (item) => /^:([A-Za-z0-9+/]+={0,2}):$/.exec(item.trim())?.[1],
  );
  if (!items.every((item) => item !== undefined)) return undefined;
  return items.map((item) => Buffer.from(item, 'base64'));
}

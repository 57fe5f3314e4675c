import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../settings/config.ts';
import type { AddressRange } from '../../settings/settings.ts';

/** The address that a request came from, as far as the proxies in between can be trusted. */
export type AddressOf = (request: IncomingMessage) => string;

/**
 * Makes a function that returns the address of a request's caller. That is the address of the connection. If it is one of LOMBARD_PROXIES,
 * LOMBARD_PROXY_HEADER is read from the right, up to the first address that is not one of them. Use it for limits and logs, never for
 * links.
 */
export function createAddressOf({ proxies, proxyHeader }: Pick<Config, 'proxies' | 'proxyHeader'>): AddressOf {
  const trusted = blockList(proxies);
  return (request) => {
    let address = plain(request.socket.remoteAddress ?? '');
    if (proxies.length === 0) return address;
    const entries = entriesOf(request, proxyHeader);
    while (trusted.check(address, family(address))) {
      const before = addressIn(entries.pop());
      // A proxy did not know this address, or a caller made it up, so nothing before it can be trusted either.
      if (before === undefined) return address;
      address = before;
    }
    return address;
  };
}

/** The ranges as a list that can check addresses. */
export function blockList(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix } of ranges) list.addSubnet(address, prefix, family(address));
  return list;
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** The `for` value of each hop, with the nearest hop last. */
function entriesOf(request: IncomingMessage, name: Config['proxyHeader']): string[] {
  const sent = request.headers[name];
  const text = Array.isArray(sent) ? sent.join(',') : (sent ?? '');
  if (name === 'x-forwarded-for') return text === '' ? [] : text.split(',');
  return unquotedSplit(text, ',').map((hop) => {
    const pair = unquotedSplit(hop, ';').find((one) => /^\s*for\s*=/i.test(one));
    return pair === undefined ? '' : pair.slice(pair.indexOf('=') + 1);
  });
}

/** Splits at a separator outside quotes (RFC 7239, section 4). */
function unquotedSplit(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [start, quoted] = [0, false];
  for (let at = 0; at < text.length; at += 1) {
    if (quoted && text[at] === '\\') at += 1;
    else if (text[at] === '"') quoted = !quoted;
    else if (!quoted && text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  const last = text.slice(start);
  return last.trim() === '' && parts.length === 0 ? [] : [...parts, last];
}

/** The address of an entry such as `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `"[2001:db8::1]:4711"`; undefined for everything else. */
function addressIn(entry: string | undefined): string | undefined {
  const text = (entry ?? '').trim().replace(/^"|"$/g, '');
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([^:]+):\d+$/.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? undefined : plain(bare);
}

/** Turns an IPv4 address in IPv6 notation into plain IPv4. */
function plain(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** The key under which an address is counted. An IPv6 household has a whole /64, so all addresses of a /64 share a key. */
export function addressKey(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = 8 - groups.length - tail.split(':').filter(Boolean).length;
  const all = address.includes('::')
    ? [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...tail.split(':').filter(Boolean)]
    : groups;
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

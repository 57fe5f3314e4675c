import { BlockList, isIP } from 'node:net';
import type { AddressRange } from '../../settings/settings.ts';

/**
 * Addresses that are never dialled (docs/decisions.md, 6): loopback, private, link-local, CGNAT, multicast, reserved, cloud metadata, and
 * IPv4 inside IPv6. They come from the IANA special-purpose registries. 168.63.129.16 is a public address that answers only inside Azure.
 */
const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** The only part of IPv6 that is routed on the internet, and the parts of it that are refused: Teredo and other tunnels, 6to4, examples. */
const PUBLIC_IPV6 = ['2000::/3'];
const REFUSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Decides which addresses may be dialled. */
export class AddressRules {
  // A separate list for each family. A single BlockList would treat ::ffff:127.0.0.1 as 127.0.0.1.
  readonly #refused4 = listOf(REFUSED_IPV4, 'ipv4');
  readonly #public6 = listOf(PUBLIC_IPV6, 'ipv6');
  readonly #refused6 = listOf(REFUSED_IPV6, 'ipv6');
  readonly #allowed4 = new BlockList();
  readonly #allowed6 = new BlockList();

  /** @param allowed ranges that may be dialled although they are not public (LOMBARD_WEBHOOK_ALLOW) */
  constructor(allowed: readonly AddressRange[]) {
    for (const { address, prefix } of allowed) {
      if (isIP(address) === 4) this.#allowed4.addSubnet(address, prefix, 'ipv4');
      else this.#allowed6.addSubnet(address, prefix, 'ipv6');
    }
  }

  /** Whether an IP address (a literal, without brackets) may be dialled; false for any other text. */
  allows(address: string): boolean {
    const family = isIP(address);
    if (family === 4) return this.#allowed4.check(address, 'ipv4') || !this.#refused4.check(address, 'ipv4');
    if (family !== 6 || address.includes('%')) return false;
    if (this.#allowed6.check(address, 'ipv6')) return true;
    return this.#public6.check(address, 'ipv6') && !this.#refused6.check(address, 'ipv6');
  }
}

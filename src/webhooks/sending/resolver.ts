import { promises as dns, lookup, NODATA, NOTFOUND } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { codeOf } from '../../values/unknown.ts';

/** An address of a name. */
export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** Milliseconds for one name server, and the number of times that the list of servers is tried. Together they stay below an attempt's deadline. */
const SERVER_TIMEOUT_MS = 2_000;
const MAX_TRIES = 2;
/** Errors that only mean that DNS does not have a name. */
const UNKNOWN_THERE = new Set<string | undefined>([NOTFOUND, NODATA, 'ECONNREFUSED']);
const HOSTS_FILE = process.platform === 'win32' ? `${'C:\\Windows\\System32'}\\drivers\\etc\\hosts` : '/etc/hosts';

/**
 * Makes the resolver of receivers' names. It uses the hosts file, then DNS without threads, then the system's own look-up for names that
 * neither knows. The system's look-up holds one of a few threads for as long as a dead name server takes. If it came first, a receiver with
 * such a name would slow all others.
 */
export function createResolver(): Resolve {
  const resolver = new dns.Resolver({ timeout: SERVER_TIMEOUT_MS, tries: MAX_TRIES });
  const hosts = new HostsFile(HOSTS_FILE);
  return async (hostname) => {
    const name = hostname.replace(/\.$/, '').toLowerCase();
    const listed = await hosts.find(name);
    if (listed.length > 0) return listed;
    if (name === 'localhost' || name.endsWith('.localhost')) {
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ];
    }
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found: ResolvedAddress[] = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 as const })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 as const })) : []),
    ];
    if (found.length > 0) return found;
    for (const one of [four, six])
      if (one.status === 'rejected' && !UNKNOWN_THERE.has(codeOf(one.reason))) throw one.reason;
    return systemLookup(name);
  };
}

function systemLookup(name: string): Promise<ResolvedAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(name, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });
}

/** The hosts file. It is read again when it has changed. */
class HostsFile {
  readonly #path: string;
  #changedMs = -1;
  #names = new Map<string, ResolvedAddress[]>();

  constructor(path: string) {
    this.#path = path;
  }

  async find(name: string): Promise<ResolvedAddress[]> {
    try {
      const { mtimeMs } = await stat(this.#path);
      if (mtimeMs !== this.#changedMs) {
        this.#names = parseHosts(await readFile(this.#path, 'utf8'));
        this.#changedMs = mtimeMs;
      }
    } catch {
      // A machine without a hosts file.
    }
    return this.#names.get(name) ?? [];
  }
}

function parseHosts(text: string): Map<string, ResolvedAddress[]> {
  const names = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      const known = names.get(name) ?? [];
      if (!known.some((one) => one.address === address)) names.set(name, [...known, { address, family }]);
    }
  }
  return names;
}

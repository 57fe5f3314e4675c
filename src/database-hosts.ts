import pg from 'pg';

/** The sessions that a connection string asks for (libpq's target_session_attrs), as far as a service that writes can use them. */
const SESSIONS = ['any', 'read-write', 'primary'] as const;

/** Milliseconds that a host gets to answer before the next one is asked. */
const PROBE_MS = 1_000;
/** Milliseconds for which a choice holds: connections that are opened together share it. */
const CHOICE_MS = 1_000;

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** A connection string with one or several hosts. */
export interface DatabaseHosts {
  /** A connection string for each host, in the order in which they are tried. */
  addresses: string[];
  session: (typeof SESSIONS)[number];
}

/**
 * Reads a connection string as libpq does: `postgres://user@a:5432,b:5433/db?target_session_attrs=read-write`, or with the lists in the
 * parameters `host` and `port` (PostgreSQL's documentation, 34.1.1.3, Specifying Multiple Hosts).
 * @throws Error that names what is wrong, without the string, which holds a password
 */
export function readHosts(url: string): DatabaseHosts {
  const [, scheme, user = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  if (scheme === undefined) throw new Error('must be an address that begins with postgres:// or postgresql://');
  const parameters = new URLSearchParams(query);
  const session = parameters.get('target_session_attrs') ?? 'any';
  if (!SESSIONS.includes(session as 'any'))
    throw new Error(
      `has target_session_attrs=${session}: must be any, read-write or primary, because the service writes`,
    );
  parameters.delete('target_session_attrs');
  const hosts = hostsOf(authority, parameters);
  const further = parameters.size === 0 ? '' : `?${parameters}`;
  const addresses = hosts.map((host) => `${scheme}${user}${host}${path}${further}`);
  if (!addresses.every((address) => URL.canParse(address)))
    throw new Error('must be an address of hosts and ports, as postgres://a:5432,b:5433/db');
  return { addresses, session: session as DatabaseHosts['session'] };
}

/** Each host, with its port, as the authority of a string of its own. Takes the lists out of the parameters. */
function hostsOf(authority: string, parameters: URLSearchParams): string[] {
  const [named, ports] = [parameters.get('host')?.split(','), parameters.get('port')?.split(',') ?? []];
  const hosts =
    named?.map((host) => (host.includes(':') ? `[${host}]` : encodeURIComponent(host))) ?? authority.split(',');
  if (hosts.length === 1 && ports.length <= 1 && !named) return [authority];
  if (ports.length > 1 && ports.length !== hosts.length) throw new Error('names more or fewer ports than hosts');
  parameters.delete('host');
  parameters.delete('port');
  return hosts.map((host, index) => {
    const port = ports.length > 1 ? ports[index] : ports[0];
    return port ? `${host}:${port}` : host;
  });
}

/** Finds the host of a connection string that takes the sessions it asks for. */
export class HostChoice {
  readonly #hosts: DatabaseHosts;
  #chosen: Promise<{ host: string; port: number }> | undefined;

  constructor(hosts: DatabaseHosts) {
    this.#hosts = hosts;
  }

  /** @throws the first host's error, where none answers, or what is wrong with each of them */
  choose(): Promise<{ host: string; port: number }> {
    if (this.#chosen) return this.#chosen;
    const chosen = this.#probe();
    this.#chosen = chosen;
    const forget = () => {
      if (this.#chosen === chosen) this.#chosen = undefined;
    };
    chosen.then(() => setTimeout(forget, CHOICE_MS).unref(), forget);
    return chosen;
  }

  /** All hosts are asked at once; the first in their order that fits is taken, so that every process takes the same one. */
  async #probe(): Promise<{ host: string; port: number }> {
    const { addresses, session } = this.#hosts;
    const asked = addresses.map((address) =>
      probe(address, session).then(
        (place) => ({ place, error: undefined }),
        (error: Error) => ({ place: undefined, error }),
      ),
    );
    const errors: Error[] = [];
    const reasons: string[] = [];
    for (const [index, answer] of asked.entries()) {
      const { place, error } = await answer;
      if (place) return place;
      if (error) errors.push(error);
      reasons.push(`${new URL(addresses[index] as string).host}: ${error?.message ?? `not ${session}`}`);
    }
    if (errors[0] && errors.length === addresses.length) throw errors[0];
    const message = `no host of the connection string is ${session} now (${reasons.join(', ')})`;
    throw Object.assign(new Error(message), { code: NO_HOST });
  }
}

/** The SQLSTATE of a server that takes no writes: none of the hosts does. */
const NO_HOST = '25006';

/** @returns where the address leads, if its sessions are as wanted @throws what connecting throws */
async function probe(
  address: string,
  session: DatabaseHosts['session'],
): Promise<{ host: string; port: number } | undefined> {
  const client = new pg.Client({
    connectionString: address,
    application_name: 'lombard-hosts',
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean; read_only: boolean }>(SESSION);
    const fits = { any: true, primary: !rows[0]?.standby, 'read-write': !rows[0]?.read_only }[session];
    return fits ? { host: client.host, port: client.port } : undefined;
  } finally {
    // A host that does not answer is not waited for.
    client.end().catch(() => {});
  }
}

const SESSION = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only`;

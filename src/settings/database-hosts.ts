import { isOneOf } from '../values/unknown.ts';

/** The kinds of session that a connection string may ask for (libpq's target_session_attrs) and that a writing service can use. */
const SESSIONS = ['any', 'read-write', 'primary'] as const;

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** A connection string with one or more hosts. */
export interface DatabaseHosts {
  /** A connection string for each host, in the order in which they are tried. */
  addresses: [string, ...string[]];
  session: (typeof SESSIONS)[number];
}

/**
 * Reads a connection string as libpq does: `postgres://user@a:5432,b:5433/db?target_session_attrs=read-write`, or with the lists in the
 * parameters `host` and `port` (PostgreSQL's documentation, 34.1.1.3, Specifying Multiple Hosts).
 * @throws Error that says what is wrong, without the string, which contains a password
 */
export function readHosts(url: string): DatabaseHosts {
  const [, scheme, user = '', authority = '', path = '', query = ''] = PARTS.exec(url) ?? [];
  if (scheme === undefined) throw new Error('must be an address that begins with postgres:// or postgresql://');
  const parameters = new URLSearchParams(query);
  const session = parameters.get('target_session_attrs') ?? 'any';
  if (!isOneOf(SESSIONS, session))
    throw new Error(
      `has target_session_attrs=${session}: must be any, read-write or primary, because the service writes`,
    );
  parameters.delete('target_session_attrs');
  const hosts = hostsOf(authority, parameters);
  const further = parameters.size === 0 ? '' : `?${parameters}`;
  const [address, ...others] = hosts.map((host) => `${scheme}${user}${host}${path}${further}`);
  if (address === undefined || ![address, ...others].every((each) => URL.canParse(each)))
    throw new Error('must be an address of hosts and ports, as postgres://a:5432,b:5433/db');
  return { addresses: [address, ...others], session };
}

/** Each host with its port, as the authority of a separate string. Removes the lists from the parameters. */
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

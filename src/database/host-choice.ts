import pg from 'pg';
import type { DatabaseHosts } from '../settings/database-hosts.ts';

/** Milliseconds that a host gets to answer before the next one is asked. */
const PROBE_MS = 1_000;
/** Milliseconds for which a choice is kept, so that connections that are opened together share it. */
const CHOICE_MS = 1_000;

/** Finds the host of a connection string that accepts the kind of session that the string asks for. */
export class HostChoice {
  readonly #hosts: DatabaseHosts;
  #chosen: Promise<{ host: string; port: number }> | undefined;

  constructor(hosts: DatabaseHosts) {
    this.#hosts = hosts;
  }

  /** @throws the first host's error if no host answers; otherwise an error that says what is wrong with each */
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

  /** Asks all hosts at once and takes the first in their order that fits, so that every process takes the same one. */
  async #probe(): Promise<{ host: string; port: number }> {
    const { addresses, session } = this.#hosts;
    const asked = addresses.map((address) => ({
      address,
      answer: probe(address, session).then(
        (place) => ({ place, error: undefined }),
        (error: Error) => ({ place: undefined, error }),
      ),
    }));
    const errors: Error[] = [];
    const reasons: string[] = [];
    for (const { address, answer } of asked) {
      const { place, error } = await answer;
      if (place) return place;
      if (error) errors.push(error);
      reasons.push(`${new URL(address).host}: ${error?.message ?? `not ${session}`}`);
    }
    if (errors[0] && errors.length === addresses.length) throw errors[0];
    const message = `no host of the connection string is ${session} now (${reasons.join(', ')})`;
    throw Object.assign(new Error(message), { code: NO_HOST });
  }
}

/** SQLSTATE for a server that takes no writes. It is used if none of the hosts does. */
const NO_HOST = '25006';

/**
 * @returns the host and port, if its sessions are of the wanted kind
 * @throws the error of connecting
 */
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
    // Do not wait for a host that does not answer.
    client.end().catch(() => {});
  }
}

const SESSION = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as read_only`;

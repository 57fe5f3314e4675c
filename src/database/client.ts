import pg from 'pg';
import { readHosts } from '../settings/database-hosts.ts';
import { monotonic } from '../values/calendar.ts';
import { HostChoice } from './host-choice.ts';

/** One choice for each connection string that names several hosts; a process has a handful. */
const CHOICES = new Map<string, HostChoice>();

/** The connections that are open, and since when (monotonic). */
const OPEN = new Map<DatabaseClient, number>();

/** A connection to the database. Its string may name several hosts, of which it takes the one that fits when it connects. */
export class DatabaseClient extends pg.Client {
  readonly url: string;
  readonly #choice: HostChoice | undefined;
  #ended = false;

  /** @param config with a connection string */
  constructor(config: pg.ClientConfig = {}) {
    const url = config.connectionString ?? '';
    const hosts = readHosts(url);
    super({ ...config, connectionString: hosts.addresses[0] });
    this.url = url;
    this.once('end', () => OPEN.delete(this));
    // A server may end a connection right after it has opened it, or between two owners. Nobody else listens then, and the event would end
    // the process. The next query of the connection fails anyway.
    this.on('error', () => {});
    if (hosts.addresses.length === 1 && hosts.session === 'any') return;
    this.#choice = CHOICES.get(url) ?? new HostChoice(hosts);
    CHOICES.set(url, this.#choice);
  }

  override connect(): Promise<this>;
  override connect(callback: (error?: Error) => void): void;
  override connect(callback?: (error?: Error) => void): Promise<this> | undefined {
    const connected = this.#connectToHost();
    if (!callback) return connected;
    connected.then(() => callback(), callback);
    return undefined;
  }

  async #connectToHost(): Promise<this> {
    if (this.#choice) Object.assign(this, await this.#choice.choose());
    if (this.#ended) throw new Error('Connection terminated');
    await super.connect();
    OPEN.set(this, monotonic());
    return this;
  }

  /**
   * Runs the last statement of a transaction and commits it. Both go to the server together, which saves a round trip for each change. Where
   * the statement fails, the server passes over the commit.
   */
  commitAfter(statement: pg.QueryConfig): Promise<void> {
    const query = new pg.Query(statement);
    const { submit } = query;
    query.submit = (connection) => submit.call(query, endingWithCommit(connection));
    return new Promise((resolve, reject) => {
      const ended = (error?: Error | null) => (error ? reject(error) : resolve());
      Reflect.apply(this.query, this, [query, ended]);
    });
  }

  protected async commitSeparately(statement: pg.QueryConfig): Promise<void> {
    await this.query(statement);
    await this.query('commit');
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    this.#ended = true;
    if (!callback) return super.end();
    super.end(callback);
    return undefined;
  }
}

/** A connection that has the server commit after a statement, before it waits for the next message. */
function endingWithCommit(connection: pg.Connection): pg.Connection {
  const execute = (...how: Parameters<pg.Connection['execute']>) => {
    connection.execute(...how);
    connection.parse({ name: '', text: 'commit', types: [] }, true);
    connection.bind({}, true);
    connection.execute({}, true);
  };
  return Object.create(connection, { execute: { value: execute } });
}

/**
 * Breaks the connections of some connection strings that lead to a server which another has replaced, busy or not, without a word to it:
 * a host that has gone silent would not answer. Their statements fail.
 * @param until of a string with one host: those that were opened until then (monotonic)
 */
export async function leaveFormerServer(urls: readonly string[], until: number): Promise<void> {
  for (const url of new Set(urls)) {
    const place = await CHOICES.get(url)?.choose();
    for (const [client, openedAt] of OPEN) {
      const former = place ? client.host !== place.host || client.port !== place.port : openedAt <= until;
      if (client.url === url && former) client.connection.stream.destroy();
    }
  }
}

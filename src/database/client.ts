import type { Writable } from 'node:stream';
import pg from 'pg';
import { readHosts } from '../settings/database-hosts.ts';
import { monotonic } from '../values/calendar.ts';
import { HostChoice } from './host-choice.ts';

/** One choice for each connection string that names several hosts. A process has a handful of them. */
const CHOICES = new Map<string, HostChoice>();

const DONE: Promise<unknown> = Promise.resolve();

/** pg's own startup parameters, which its types do not name. */
const STARTUP = pg.Client.prototype as unknown as { getStartupConf(): Record<string, string> };

/** The open connections, each with the moment at which it was opened (monotonic). */
const OPEN = new Map<DatabaseClient, number>();

/** How a connection sends statements without waiting for the answers before them. */
export interface Pipelined {
  later<R extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    taken?: (result: pg.QueryResult<R>) => void,
  ): void;
  meanwhile(work: Promise<unknown>): void;
  earlier(): Promise<void>;
  caughtUp(): Promise<void>;
  settled(): Promise<void>;
  startCopy<S extends pg.Submittable>(stream: S): Promise<S>;
  commitAfter(statement: pg.QueryConfig): Promise<void>;
}

/** A connection to the database. If its string names several hosts, it takes the one that fits when it connects. */
export class DatabaseClient extends pg.Client implements Pipelined {
  readonly url: string;
  readonly #choice: HostChoice | undefined;
  #ended = false;
  /** Answers to statements that nobody waits for: the last one, and the last one whose result is used. */
  #answered: Promise<unknown> = DONE;
  #taken: Promise<unknown> = DONE;
  /** Work of `meanwhile` that has not ended, or has failed and nobody was told. */
  readonly #meanwhile = new Set<Promise<unknown>>();
  #failure: Error | undefined;

  /** @param config with a connection string */
  constructor(config: pg.ClientConfig = {}) {
    const url = config.connectionString ?? '';
    const hosts = readHosts(url);
    super({ pipeline: true, ...config, connectionString: hosts.addresses[0] });
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
    gatherWrites(this.connection.stream);
    OPEN.set(this, monotonic());
    return this;
  }

  /**
   * What a session sends when it begins; pg calls it. Dates that are read as text are ISO 8601, whatever the server's default is. A pooler
   * takes this parameter, as it takes it from JDBC.
   */
  getStartupConf(): Record<string, string> {
    return { ...STARTUP.getStartupConf.call(this), DateStyle: 'ISO' };
  }

  /**
   * Sends a statement of a transaction without waiting for its answer. It goes out together with the next statement that is waited for. If
   * it fails, the server refuses every later statement, and `settled` throws the cause.
   * @param taken gets the result
   */
  later<R extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    taken?: (result: pg.QueryResult<R>) => void,
  ): void {
    this.#answered = this.query<R>(statement as pg.QueryConfig).then(taken, (error: Error) => {
      this.#failure ??= error;
    });
    if (taken) this.#taken = this.#answered;
  }

  /** Registers work of a transaction that runs alongside later statements. It ends before the transaction does. */
  meanwhile(work: Promise<unknown>): void {
    this.#meanwhile.add(work);
    work.catch(() => {});
  }

  /**
   * Waits for the work of `meanwhile` so far, and for results that `later` passes on. Work that is registered itself may wait so: it waits
   * for what came before it, and never for itself.
   * @throws what made that work fail
   */
  async earlier(): Promise<void> {
    const some = [...this.#meanwhile];
    await Promise.allSettled(some);
    for (const work of some) this.#meanwhile.delete(work);
    await Promise.all(some);
    await this.#taken;
  }

  /** Like `earlier`, and waits for work that is registered while it waits. @throws what made work fail */
  async caughtUp(): Promise<void> {
    do await this.earlier();
    while (this.#meanwhile.size > 0);
  }

  /**
   * Waits for everything that `later` and `meanwhile` began.
   * @throws the error of the first statement that failed, once
   */
  async settled(): Promise<void> {
    let work: Error | undefined;
    do
      await this.caughtUp().catch((error: Error) => {
        work ??= error;
      });
    while (this.#meanwhile.size > 0);
    // The server answers statements in order, so this one comes last.
    await this.#answered;
    const failure = this.#failure ?? work;
    this.#failure = undefined;
    if (failure) throw failure;
  }

  /** Starts a COPY. It waits for the statements before it, since the driver takes no stream into a pipeline. */
  async startCopy<S extends pg.Submittable>(stream: S): Promise<S> {
    await this.settled();
    Object.assign(this, { pipeline: false });
    this.once('drain', () => Object.assign(this, { pipeline: true }));
    return this.query(stream);
  }

  /**
   * Runs the last statement of a transaction and commits it. Both go to the server together, which saves a round trip for each change. If
   * the statement fails, the server skips the commit.
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

/** Makes a stream write everything from one turn of the event loop at once. Its reader then wakes and reads only once. */
function gatherWrites(stream: Writable): void {
  const write: (...said: never[]) => boolean = stream.write;
  let gathers = false;
  stream.write = (...said: never[]) => {
    if (!gathers) {
      gathers = true;
      stream.cork();
      process.nextTick(() => {
        gathers = false;
        stream.uncork();
      });
    }
    return Reflect.apply(write, stream, said);
  };
}

/** Wraps a connection so that it sends `commit` directly after a statement, without a sync between the two. */
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
 * Breaks the connections that lead to a server that another has replaced, whether busy or not. It sends no goodbye, because a silent host
 * would not answer. Their statements fail.
 * @param urls the connection strings
 * @param until for a string with one host: breaks only connections that were opened until then (monotonic)
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

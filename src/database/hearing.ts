import type pg from 'pg';
import { endsWithin } from '../process/deadline.ts';
import { DatabaseClient } from './client.ts';

/** Milliseconds that the connection has to answer, and to close. */
const ANSWER_WITHIN_MS = 5_000;
const GOODBYE_WITHIN_MS = 1_000;

/** Notices within seconds that a machine has disappeared without a word. */
const SET_UP = 'set tcp_keepalives_idle = 2; set tcp_keepalives_interval = 1; set tcp_keepalives_count = 3';

/** A listener: what it does with the payloads of each topic, and with the loss of the connection. */
interface Hearer {
  topics: Readonly<Record<string, (payload: string) => void>>;
  /** Called when the connection is lost. The listener may have missed something. */
  lost(reason: Error): void;
}

/** A listener's hold on the connection. */
export interface Heard {
  /** The session. It stays the same as long as somebody listens on it, so it also holds locks. */
  client: pg.Client;
  /** Stops listening. The last listener to stop closes the connection. */
  end(): Promise<void>;
  /** Gives the connection up for all its listeners. It does not wait for the server's goodbye, which may never come. */
  giveUp(reason: Error): void;
}

/** The single connection on which a process listens for announcements (NOTIFY). Each topic is a channel. It is open while somebody listens. */
export class Hearing {
  readonly #url: string;
  readonly #hearers = new Set<Hearer>();
  #connection: Promise<pg.Client> | undefined;

  /** @param url of a direct session, not through a pooler in transaction mode */
  constructor(url: string) {
    this.#url = url;
  }

  /** Listens from the moment at which the promise resolves, until the connection is lost. @throws Error if there is no connection */
  async hear(hearer: Hearer): Promise<Heard> {
    this.#hearers.add(hearer);
    const connection = (this.#connection ??= this.#connect());
    try {
      const client = await connection;
      await client.query(statement('listen', Object.keys(hearer.topics)));
      if (this.#connection !== connection) throw new Error('the connection was lost');
      return {
        client,
        end: () => this.#end(hearer, client),
        giveUp: (reason) => this.#lose(connection, reason),
      };
    } catch (error) {
      this.#hearers.delete(hearer);
      this.#lose(connection, error as Error);
      throw error;
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new DatabaseClient({
      connectionString: this.#url,
      application_name: 'lombard-hearing',
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
    });
    client.on('notification', ({ channel, payload = '' }) => {
      for (const { topics } of this.#hearers) topics[channel]?.(payload);
    });
    await client.connect();
    const connection = this.#connection;
    const lose = (reason: Error) => this.#lose(connection, reason);
    client.on('error', lose);
    client.on('end', () => lose(new Error('closed')));
    try {
      await client.query(SET_UP);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    return client;
  }

  #lose(connection: Promise<pg.Client> | undefined, reason: Error): void {
    if (!connection || this.#connection !== connection) return;
    this.#connection = undefined;
    const hearers = [...this.#hearers];
    this.#hearers.clear();
    connection.then((client) => client.end()).catch(() => {});
    for (const { lost } of hearers) lost(reason);
  }

  async #end(hearer: Hearer, client: pg.Client): Promise<void> {
    if (!this.#hearers.delete(hearer)) return;
    if (this.#hearers.size === 0) {
      this.#connection = undefined;
      await endsWithin(client.end(), GOODBYE_WITHIN_MS);
      return;
    }
    const others = new Set([...this.#hearers].flatMap(({ topics }) => Object.keys(topics)));
    const alone = Object.keys(hearer.topics).filter((topic) => !others.has(topic));
    if (alone.length > 0) await client.query(statement('unlisten', alone));
  }
}

function statement(verb: 'listen' | 'unlisten', topics: readonly string[]): string {
  return topics.map((topic) => `${verb} ${topic}`).join('; ');
}

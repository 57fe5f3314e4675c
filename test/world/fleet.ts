import { createDatabase, type TestDatabase } from './database.ts';
import { freePort } from './ports.ts';
import { type Answer, APPLICATION, signIn, startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

/** The base URL of links in records: the same for every service. */
const API_URL = 'http://api.example.com';

/** The fleet sizes that a test goes through. */
export const SIZES = [1, 2, 4, 8];

/** The factor by which all processes together may exceed a rate limit (by a fifth). */
const MAX_EXCESS = 1.2;
const WINDOW_MS = 60_000;

/** The listeners of one service. */
export interface Member {
  service: TestService;
  api: string;
  auth: string;
}

/**
 * Several services on one database, as if in several processes: each has its own pools, caches and workers, and they share only the
 * database. They run in one Node process, because eight starts would occupy two cores for half a minute. Calls go to each of them in turn.
 */
export class Fleet {
  readonly members: Member[] = [];
  readonly #database: TestDatabase;
  readonly #environment: Record<string, string>;
  #turn = 0;
  #secret: Promise<string> | undefined;

  private constructor(database: TestDatabase, environment: Record<string, string>) {
    this.#database = database;
    this.#environment = {
      LOMBARD_API_URL: API_URL,
      LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOMBARD_POOL: '3',
      LOMBARD_AUTH_POOL: '2',
      LOMBARD_BACKGROUND_POOL: '4',
      ...environment,
    };
  }

  /**
   * Creates a fleet without any service yet.
   * @param environment LOMBARD_... variables; rate limits are off unless given
   * @param database given if its address differs from that of the server itself
   */
  static async create(environment: Record<string, string>, database?: TestDatabase): Promise<Fleet> {
    return new Fleet(database ?? (await createDatabase()), environment);
  }

  /** Starts services until there are this many. */
  async growTo(size: number): Promise<void> {
    const shared = { url: this.#database.url, drop: async () => {} };
    while (this.members.length < size) {
      const port = await freePort();
      const service = await startTestService({ ...this.#environment, LOMBARD_API_PORT: String(port) }, shared);
      this.members.push({ service, api: `http://127.0.0.1:${port}`, auth: service.auth });
    }
  }

  /** The service whose turn it is. */
  next(): Member {
    this.#turn += 1;
    return this.members[this.#turn % this.members.length] as Member;
  }

  /** The same request to every service at once. */
  everywhere<T>(ask: (member: Member) => Promise<T>): Promise<T[]> {
    return Promise.all(this.members.map(ask));
  }

  /**
   * Makes twice as many requests as a limit allows, all at once and at every service. Then it continues until no service allows more.
   * @param ask returns whether the request was allowed
   * @returns how many were allowed, and the most that the contract allows: on a busy machine this takes longer than one window of a minute
   */
  async allowed(limit: number, ask: (member: Member) => Promise<boolean>): Promise<{ count: number; most: number }> {
    const began = performance.now();
    let count = 0;
    const one = async (member: Member) => {
      const allowed = await ask(member);
      if (allowed) count += 1;
      return allowed;
    };
    await Promise.all(Array.from({ length: 2 * limit }, () => one(this.next())));
    // On a busy machine fewer are allowed, because a use counts twice if the answer to its exchange was lost. More are never allowed.
    await until(async () => (await this.everywhere(one)).every((allowed) => !allowed));
    const windows = 1 + Math.floor((performance.now() - began) / WINDOW_MS);
    return { count, most: limit * MAX_EXCESS * windows };
  }

  /** A call to the operator interface of the service whose turn it is. */
  operator(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.next().service.operator(method, path, body);
  }

  /** Signs a contact in at the service whose turn it is. @returns the access token */
  async signIn(email: string, password: string): Promise<string> {
    this.#secret ??= this.operator('POST', '/applications', APPLICATION).then(({ body }) => body.client_secret);
    return signIn(this.next().auth, await this.#secret, email, password);
  }

  query: TestService['query'] = (text, values) => (this.members[0] as Member).service.query(text, values);

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ service }) => service.stop()));
    this.members.length = 0;
    await this.#database.drop();
  }
}

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Config, readConfig } from '../../src/config.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { createLog } from '../../src/log.ts';
import { migrate } from '../../src/migrate.ts';
import { type Service, startService } from '../../src/service.ts';

/** A quiet log; LOMBARD_TEST_LOG=debug shows what the service says. */
export const log = createLog((process.env.LOMBARD_TEST_LOG as 'silent') ?? 'silent', false);

const TEMPLATE = 'lombard_template';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Starts a server with a migrated template database; test/run.ts does it once for all files. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-test-'));
  const server = await startEmbedded({ dataDir, log, durable: false });
  const template = await withClient(server.url, async (client) => {
    await client.query(`create database ${TEMPLATE}`);
    return databaseUrl(server.url, TEMPLATE);
  });
  await migrate(template, log);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The server of a file that is run alone; it lives as long as one of its databases does. */
let own: Promise<{ url: string; stop(): Promise<void> }> | undefined;
let databases = 0;

async function serverUrl(): Promise<string> {
  const given = process.env.LOMBARD_TEST_SERVER;
  if (given) return given;
  own ??= startServer();
  return (await own).url;
}

async function leaveServer(): Promise<void> {
  databases -= 1;
  if (databases > 0 || !own) return;
  const server = await own;
  own = undefined;
  await server.stop();
}

/** A fresh database with the newest schema, cloned from the template. */
export async function createDatabase(): Promise<TestDatabase> {
  databases += 1;
  const server = await serverUrl();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await withClient(server, async (client) => {
    // Cloning refuses while another session looks at the template.
    for (let attempt = 0; ; attempt += 1) {
      try {
        await client.query(`create database ${name} template ${TEMPLATE}`);
        return;
      } catch (error) {
        if (attempt >= 50 || (error as { code?: string }).code !== '55006') throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  });
  return {
    url: databaseUrl(server, name),
    drop: async () => {
      await withClient(
        server,
        async (client) => void (await client.query(`drop database if exists ${name} with (force)`)),
      );
      await leaveServer();
    },
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.toString();
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer is its own affair
  body: any;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  token?: string;
  raw?: string;
}

export interface TestService {
  service: Service;
  config: Config;
  databaseUrl: string;
  api: string;
  auth: string;
  operatorUrl: string;
  operatorToken: string;
  /** A call to the operator interface with the admin token, or another one. */
  operator(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** A call to the client API. */
  client(token: string, method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Signs a contact in without a browser and returns the access token. */
  signIn(email: string, password: string): Promise<string>;
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  stop(): Promise<void>;
}

/** The application that `signIn` uses. */
const APPLICATION = { client_id: 'test-app', name: 'Test', redirect_uris: ['http://127.0.0.1:9/callback'] };

/**
 * Starts the service in this process, on free ports and a database of its own.
 * @param environment LOMBARD_... variables; rate limits are off unless given
 */
export async function startTestService(
  environment: Record<string, string> = {},
  database?: TestDatabase,
): Promise<TestService> {
  const own = database ?? (await createDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-data-'));
  const config = readConfig({
    LOMBARD_API_PORT: '0',
    LOMBARD_AUTH_PORT: '0',
    LOMBARD_TRUSTED_PORT: '0',
    LOMBARD_OPERATOR_PORT: '0',
    LOMBARD_API_RATE: '0',
    LOMBARD_AUTH_RATE: '0',
    LOMBARD_DATA_DIR: dataDir,
    LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-tests',
    LOMBARD_LOG_LEVEL: 'silent',
    ...environment,
  });
  const service = await startService(config, log, { databaseUrl: own.url });
  const pool = new pg.Pool({ connectionString: own.url, max: 2 });
  pool.on('error', () => {});
  const operatorToken = service.operatorToken ?? '';
  let clientSecret: Promise<string> | undefined;

  const test: TestService = {
    service,
    config,
    databaseUrl: own.url,
    api: service.addresses.api,
    auth: service.addresses.auth,
    operatorUrl: service.operatorUrl ?? '',
    operatorToken,
    operator: (method, path, body, options = {}) =>
      call(`${service.operatorUrl}${path}`, method, { body, token: operatorToken, ...options }),
    client: (token, method, path, options = {}) =>
      call(`${service.addresses.api}${path}`, method, { token, ...options }),
    signIn: async (email, password) => {
      clientSecret ??= test.operator('POST', '/applications', APPLICATION).then((answer) => answer.body.client_secret);
      return signIn(service.addresses.auth, await clientSecret, email, password);
    },
    query: (text, values) => pool.query(text, values),
    stop: async () => {
      await service.stop();
      await pool.end();
      await own.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return test;
}

async function signIn(auth: string, clientSecret: string, email: string, password: string): Promise<string> {
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
  const code = await call(`${auth}/authenticate`, 'POST', {
    raw: form({ email, password, client_id: APPLICATION.client_id, state: 'state-of-the-tests' }),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'no-redirect': 'application/json' },
  });
  if (code.status !== 200) throw new Error(`sign-in failed: ${code.status} ${code.text}`);
  const token = await call(`${auth}/token`, 'POST', {
    raw: form({
      grant_type: 'authorization_code',
      code: code.body.code,
      redirect_uri: APPLICATION.redirect_uris[0] ?? '',
    }),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${APPLICATION.client_id}:${clientSecret}`).toString('base64')}`,
    },
  });
  if (token.status !== 200) throw new Error(`no token: ${token.status} ${token.text}`);
  return token.body.access_token;
}

/** One HTTP request; JSON answers are parsed. Redirects are not followed. */
export async function call(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`;
  let body = options.raw;
  if (options.body !== undefined) {
    body = JSON.stringify(options.body);
    headers['content-type'] ??= 'application/json';
  }
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** A client with a contact that may do everything, and what a payment needs. */
export async function createWorld(test: TestService, name = 'Acme Ltd', client: object = {}) {
  const email = `${randomUUID()}@example.com`;
  const password = 'correct horse battery staple';
  const created = await test.operator('POST', '/clients', { client_name: name, ...client });
  const clientId: string = created.body.client_id;
  const contact = await test.operator('POST', '/contacts', {
    name: `Owner of ${name}`,
    email,
    password,
    clients: [{ client_id: clientId }],
  });
  const contactId: string = contact.body.contact_id;
  const beneficiary = await test.operator('POST', '/beneficiaries', {
    client_id: clientId,
    beneficiary_name: 'Müller GmbH',
    iban: 'DE89370400440532013000',
    swift_code: 'COBADEFFXXX',
    currency: 'EUR',
  });
  const trade = await test.operator('POST', '/trades', {
    client_id: clientId,
    contact_id: contactId,
    buy_currency: 'EUR',
    sell_currency: 'GBP',
    buy_amount: 100_000,
    rate: 1.17,
  });
  const base = {
    client_id: clientId,
    contact_id: contactId,
    trade_id: trade.body.trade_id,
    beneficiary_id: beneficiary.body.beneficiary_id,
    amount: 100,
    payment_currency: 'EUR',
    payment_date: '2026-12-01',
  };
  return {
    clientId,
    contactId,
    email,
    password,
    base,
    tradeId: trade.body.trade_id as string,
    beneficiaryId: beneficiary.body.beneficiary_id as string,
    signIn: () => test.signIn(email, password),
    pay: async (fields: object = {}) => test.operator('POST', '/payments', { ...base, ...fields }),
  };
}

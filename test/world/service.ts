import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Service } from '../../src/context.ts';
import type { Patience } from '../../src/process/patience.ts';
import { startService } from '../../src/service.ts';
import { type Config, readConfig } from '../../src/settings/config.ts';
import { LOOK, queryCells } from './cells.ts';
import { cloneDatabase, createDatabase, log, type TestDatabase } from './database.ts';
import { until } from './until.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of an answer
  body: any;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  token?: string;
  raw?: string;
  signal?: AbortSignal;
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
  /** A POST to the operator interface that, like real callers, retries with the same key if it was blocked for too long (502). */
  insist(path: string, body: unknown): Promise<Answer>;
  /** A call to the client API. */
  client(token: string, method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Signs a contact in without a browser and returns the access token. */
  signIn(email: string, password: string): Promise<string>;
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  stop(): Promise<void>;
}

/** The application that `signIn` uses. */
export const APPLICATION = { client_id: 'test-app', name: 'Test', redirect_uris: ['http://127.0.0.1:9/callback'] };

/**
 * Starts the service in this process, on free ports and its own database.
 * @param environment LOMBARD_... variables; rate limits are off unless given
 * @param patience a test may change it while the service runs
 */
export async function startTestService(
  environment: Record<string, string> = {},
  database?: TestDatabase,
  patience?: Readonly<Patience>,
): Promise<TestService> {
  const own = database ?? (await (environment.LOMBARD_MIGRATE === 'no' ? createDatabase() : cloneDatabase()));
  const dataDir = mkdtempSync(join(tmpdir(), 'lombard-data-'));
  const config = readConfig({
    LOMBARD_API_PORT: '0',
    LOMBARD_AUTH_PORT: '0',
    LOMBARD_TRUSTED_PORT: '0',
    LOMBARD_OPERATOR_PORT: '0',
    LOMBARD_HEALTH_PORT: '0',
    LOMBARD_API_RATE: '0',
    LOMBARD_AUTH_RATE: '0',
    LOMBARD_DATA_DIR: dataDir,
    LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-tests',
    LOMBARD_LOG_LEVEL: 'silent',
    ...environment,
  });
  const service = await startService(config, log, { databaseUrl: own.url, patience });
  // A pooler in transaction mode does not support session settings.
  const look = environment.LOMBARD_SESSION_DATABASE_URL === undefined ? LOOK : {};
  const pool = new pg.Pool({ connectionString: own.url, max: 2, ...look });
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
    insist: (path, body) => {
      const headers = { 'idempotency-key': randomUUID() };
      return until(async () => {
        const answer = await test.operator('POST', path, body, { headers });
        return answer.status !== 502 && answer;
      });
    },
    client: (token, method, path, options = {}) =>
      call(`${service.addresses.api}${path}`, method, { token, ...options }),
    signIn: async (email, password) => {
      clientSecret ??= test.operator('POST', '/applications', APPLICATION).then((answer) => answer.body.client_secret);
      return signIn(service.addresses.auth, await clientSecret, email, password);
    },
    query: (text, values) => queryCells(pool, text, values),
    stop: async () => {
      await service.stop();
      await pool.end();
      await own.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return test;
}

/** Signs a contact in with that application. @returns its access token */
export async function signIn(auth: string, clientSecret: string, email: string, password: string): Promise<string> {
  return (await issueTokens(auth, clientSecret, email, password)).access_token;
}

/** Like `signIn`. @returns the answer of the token endpoint */
export async function issueTokens(
  auth: string,
  clientSecret: string,
  email: string,
  password: string,
): Promise<{ access_token: string; refresh_token: string }> {
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
  return token.body;
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
  const signalled = options.signal ? { signal: options.signal } : {};
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
    ...signalled,
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json && text !== '' ? JSON.parse(text) : undefined,
  };
}

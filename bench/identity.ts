import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../src/context.ts';
import type { Pool } from '../src/database/database.ts';
import { createPool } from '../src/database/pools.ts';
import { hashPassword, verifyPassword } from '../src/identity/sign-in/password.ts';
import { redeemRefreshToken } from '../src/identity/tokens/issued-tokens.ts';
import { Sessions } from '../src/identity/tokens/sessions.ts';
import { createLog } from '../src/process/log.ts';
import { startService } from '../src/service.ts';
import { readConfig } from '../src/settings/config.ts';
import { randomToken, sha256 } from '../src/values/crypto.ts';
import type { Measured, Order } from './identity-child.ts';

/**
 * What signing in costs, against a floor in the same run. `npm run bench -- identity [seconds]` prints one JSON object:
 * - refresh: POST /token over HTTP against a bare loop of the same SQL with as many callers and connections (at least 0.5);
 * - sign_in: sign-ins a second against argon2id alone, and the payments search's p99 beside 20 concurrent ones (less than 1.2): of searches
 *   that come at a steady rate, and of callers who search without a pause;
 * - session: a token seen lately (less than 1 us), and the time until a revoked one is refused by another process (less than 1 s).
 * The callers are processes of their own; rounds alternate, so that a busy machine slows both sides.
 */
const CALLERS = 16;
const CONNECTIONS = 8;
const ROUNDS = 5;
const CONTACTS = 200;
const PAYMENTS = 2_000;
const SEARCHES_PER_SECOND = 100;
const SEARCHERS = 4;
/** Milliseconds of sign-ins before and after each measurement: the burst when they all start belongs to neither side. */
const MARGIN = 1_000;
const PASSWORD = 'correct horse battery staple';
const APPLICATION = 'bench-app';

export async function run([given = '2']: string[]): Promise<void> {
  const seconds = Number(given);
  const dataDir = await mkdtemp(join(tmpdir(), 'lombard-bench-'));
  const config = readConfig({
    LOMBARD_API_PORT: '0',
    LOMBARD_AUTH_PORT: '0',
    LOMBARD_OPERATOR_PORT: '0',
    LOMBARD_TRUSTED_PORT: '0',
    LOMBARD_API_RATE: '0',
    LOMBARD_AUTH_RATE: '0',
    LOMBARD_DATA_DIR: dataDir,
    LOMBARD_ROLES: 'api,auth,operator',
  });
  const log = createLog('silent', false);
  const service = await startService(config, log);
  const { pool } = service.context;
  const bare = createPool(pool.options.connectionString ?? '', log, { max: CONNECTIONS });
  const callers = [0, 1].map(() => fork(new URL('./identity-child.ts', import.meta.url)));
  const load = async (order: Order, which = 0): Promise<Measured> => {
    const caller = callers[which] as ChildProcess;
    caller.send(order);
    return (await once(caller, 'message'))[0] as Measured;
  };
  try {
    const secret = await prepare(service);
    const results = {
      refresh: await benchRefresh(service, bare, secret, seconds, load),
      sign_in: await benchSignIn(service, seconds, load),
      session: await benchSessions(service, log),
    };
    process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  } finally {
    for (const caller of callers) caller.kill();
    await bare.end();
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Creates one client with payments, contacts with the same password, and an application. Returns the application's secret. */
async function prepare({ context, operatorUrl, operatorToken }: Service): Promise<string> {
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${operatorUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken}` },
    });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  await call('/clients', { client_id: 'BENCH', client_name: 'Bench' });
  await call('/contacts', {
    contact_id: 'BENCH-0',
    name: 'Bench',
    email: 'bench-0@example.com',
    password: PASSWORD,
    clients: [{ client_id: 'BENCH' }],
  });
  await context.pool.query(
    `insert into contacts (contact_id, name, email, password_hash, second_factor, trusted_access, created_at)
     select 'BENCH-' || n, 'Bench', 'bench-' || n || '@example.com', k.password_hash, 'none', false, now()
     from contacts k, generate_series(1, $1) n where k.contact_id = 'BENCH-0'`,
    [CONTACTS - 1],
  );
  await context.pool.query(
    `insert into contact_clients select 'BENCH', contact_id, true, true, true, true, true from contacts where contact_id <> 'BENCH-0'`,
  );
  const beneficiary = await call('/beneficiaries', {
    client_id: 'BENCH',
    beneficiary_name: 'Bench',
    account_number: '12345678',
    currency: 'EUR',
  });
  const trade = await call('/trades', {
    client_id: 'BENCH',
    contact_id: 'BENCH-0',
    buy_currency: 'EUR',
    sell_currency: 'GBP',
    buy_amount: 1,
    rate: 1,
  });
  const common = {
    client_id: 'BENCH',
    contact_id: 'BENCH-0',
    trade_id: trade.trade_id,
    beneficiary_id: beneficiary.beneficiary_id,
    payment_currency: 'EUR',
    payment_date: '2026-12-01',
  };
  const lines = Array.from({ length: PAYMENTS }, (_, n) => JSON.stringify({ ...common, amount: n + 1 })).join('\n');
  const imported = await fetch(`${operatorUrl}/imports/payments`, {
    method: 'POST',
    body: lines,
    headers: { 'content-type': 'application/x-ndjson', authorization: `Bearer ${operatorToken}` },
  });
  if (!imported.ok) throw new Error(`imports: ${imported.status} ${await imported.text()}`);
  const application = await call('/applications', {
    client_id: APPLICATION,
    name: 'Bench',
    redirect_uris: ['https://app.example.com/callback'],
  });
  return application.client_secret ?? '';
}

/** A valid refresh token for each of the first contacts. */
async function refreshTokens(pool: Pool, count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => randomToken());
  await pool.query(
    `with granted as (
       insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       select $1, 'BENCH-' || n, false, '{pwd}', now(), now() from generate_series(0, $2::int - 1) n returning id, contact_id)
     insert into refresh_tokens (token_sha256, grant_id, application_id, contact_id, issued_at)
     select t.hash, g.id, $1, g.contact_id, now() from granted g
     join unnest($3::bytea[]) with ordinality as t(hash, n) on g.contact_id = 'BENCH-' || (t.n - 1)`,
    [APPLICATION, count, tokens.map((token) => sha256(token))],
  );
  return tokens;
}

type Load = (order: Order, which?: number) => Promise<Measured>;

async function benchRefresh({ context, addresses }: Service, bare: Pool, secret: string, seconds: number, load: Load) {
  const authorization = `Basic ${Buffer.from(`${APPLICATION}:${secret}`).toString('base64')}`;
  const rates: { http: Measured[]; bare: number[]; cpu: number[] } = { http: [], bare: [], cpu: [] };
  const tokens = await refreshTokens(context.pool, CALLERS);
  await load({ kind: 'refresh', url: addresses.auth, authorization, tokens, seconds: 0.5 });
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.threadCpuUsage();
    const http = await load({
      kind: 'refresh',
      url: addresses.auth,
      authorization,
      tokens: await refreshTokens(context.pool, CALLERS),
      seconds,
    });
    const used = process.threadCpuUsage(before);
    rates.http.push(http);
    rates.cpu.push((used.user + used.system) / http.requests);
    const chains = await refreshTokens(context.pool, CALLERS);
    const started = performance.now();
    let done = 0;
    await Promise.all(
      chains.map(async (token) => {
        let refreshToken = token;
        while (performance.now() - started < seconds * 1_000) {
          const next = await redeemRefreshToken(bare, {
            applicationId: APPLICATION,
            refreshToken,
            thumbprint: null,
            now: context.clock.now(),
          });
          refreshToken = next.refreshToken;
          done += 1;
        }
      }),
    );
    rates.bare.push((done / (performance.now() - started)) * 1_000);
  }
  const http = median(rates.http.map((one) => one.requests / one.seconds));
  return {
    per_second: Math.round(http),
    bare_sql_per_second: Math.round(median(rates.bare)),
    ratio: rounded(http / median(rates.bare)),
    p50_ms: rounded(median(rates.http.map((one) => one.p50))),
    p99_ms: rounded(median(rates.http.map((one) => one.p99))),
    cpu_us_each: Math.round(median(rates.cpu)),
  };
}

async function benchSignIn({ context, addresses }: Service, seconds: number, load: Load) {
  const token = await accessToken(context.pool);
  const emails = Array.from({ length: CONTACTS }, (_, n) => `bench-${n}@example.com`);
  const search: Order = {
    kind: 'search',
    url: addresses.api,
    path: '/payments?client_id=BENCH',
    token,
    perSecond: SEARCHES_PER_SECOND,
    callers: 0,
    seconds: Math.max(seconds, 5),
  };
  const signIns: Order = {
    kind: 'sign-in',
    url: addresses.auth,
    emails,
    password: PASSWORD,
    clientId: APPLICATION,
    callers: 20,
    seconds: Math.max(seconds, 5),
  };
  // First-time compilation and planning belong to neither side.
  await Promise.all([load({ ...search, seconds: 2 }), load({ ...signIns, seconds: 2 }, 1)]);
  const atARate = await benchBeside(load, search, signIns);
  const withoutAPause = await benchBeside(load, { ...search, perSecond: 0, callers: SEARCHERS }, signIns);
  const quiet = await load(signIns, 1);
  const hash = await hashPassword(PASSWORD);
  const started = performance.now();
  let hashes = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (performance.now() - started < seconds * 1_000) {
        await verifyPassword(hash, PASSWORD);
        hashes += 1;
      }
    }),
  );
  const argon2 = (hashes / (performance.now() - started)) * 1_000;
  return {
    per_second: rounded(quiet.requests / quiet.seconds, 1),
    p50_ms: rounded(quiet.p50, 1),
    argon2id_alone_per_second: rounded(argon2, 1),
    ratio: rounded(quiet.requests / quiet.seconds / argon2),
    [`beside_${SEARCHES_PER_SECOND}_searches_a_second`]: atARate,
    [`beside_${SEARCHERS}_searchers`]: withoutAPause,
  };
}

/** The same searches alone and beside sign-ins, in turns. */
async function benchBeside(load: Load, search: Order, signIns: Order) {
  const alone: Measured[] = [];
  const beside: Measured[] = [];
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push(await load(search));
    const signing = load({ ...signIns, seconds: search.seconds + (2 * MARGIN) / 1_000 }, 1);
    await sleep(MARGIN);
    beside.push(await load(search));
    const { requests, seconds } = await signing;
    rates.push(requests / seconds);
  }
  const of = (side: Measured[], which: 'p50' | 'p99') => median(side.map((one) => one[which]));
  return {
    sign_ins_per_second: rounded(median(rates), 1),
    searches_per_second: Math.round(median(beside.map((one) => one.requests / one.seconds))),
    p50_ms: [rounded(of(alone, 'p50')), rounded(of(beside, 'p50'))],
    p99_ms: [rounded(of(alone, 'p99')), rounded(of(beside, 'p99'))],
    p99_ratio: rounded(of(beside, 'p99') / of(alone, 'p99')),
  };
}

async function accessToken(pool: Pool): Promise<string> {
  const token = randomToken();
  await pool.query(
    `with granted as (
       insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       values ($1, 'BENCH-0', false, '{pwd}', now(), now()) returning id)
     insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
     select $2, id, $1, 'BENCH-0', now(), now() + interval '1 hour' from granted`,
    [APPLICATION, sha256(token)],
  );
  return token;
}

const LOOK_UPS = 1_000_000;

async function benchSessions({ context }: Service, log: ReturnType<typeof createLog>) {
  const { pool, clock } = context;
  const tokens = await Promise.all(Array.from({ length: 1_000 }, () => accessToken(pool)));
  const sessions = new Sessions(pool, clock, log);
  await sessions.start();
  try {
    for (const token of tokens) await sessions.find(token);
    // In reality a header is a new string in every request, whose hash must be computed anew.
    const sent = Array.from({ length: LOOK_UPS }, (_, n) =>
      Buffer.from(tokens[n % tokens.length] ?? '').toString('latin1'),
    );
    const costs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await sleep(350);
      for (const token of tokens) await sessions.find(token);
      const part = sent.slice(round * 200_000, (round + 1) * 200_000);
      const started = performance.now();
      for (const token of part) sessions.find(token);
      costs.push(((performance.now() - started) / part.length) * 1_000);
    }
    const waits: number[] = [];
    for (const token of tokens.slice(0, 10)) {
      // Remembered and still fresh: the process must find out by itself.
      await sleep(350);
      await sessions.find(token);
      const revoked = performance.now();
      await pool.query('update access_tokens set revoked_at = now() where token_sha256 = $1', [sha256(token)]);
      for (;;) {
        const refused = await Promise.resolve()
          .then(() => sessions.find(token))
          .then(
            () => false,
            () => true,
          );
        if (refused) break;
        await sleep(2);
      }
      waits.push(performance.now() - revoked);
    }
    return {
      remembered_token_us: rounded(median(costs), 3),
      revoked_after_ms_median: Math.round(median(waits)),
      revoked_after_ms_most: Math.round(Math.max(...waits)),
    };
  } finally {
    await sessions.stop();
  }
}

function median(numbers: number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function rounded(number: number, digits = 2): number {
  return Number(number.toFixed(digits));
}

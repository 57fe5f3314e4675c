/**
 * The default page of the client with a third of all payments, through the whole service. The service is a separate process: it checks the
 * token and the tenant rules, without a rate limit. The comparison is the same SQL under pgbench with as many connections. `npm run bench
 * -- service`.
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createPool } from '../src/database/pools.ts';
import { Sessions } from '../src/identity/tokens/sessions.ts';
import { searchStatement } from '../src/payments/search/search.ts';
import { readSearch } from '../src/payments/search/search-parameters.ts';
import { ServiceClock } from '../src/values/calendar.ts';
import { sha256 } from '../src/values/crypto.ts';
import { ask } from './ask.ts';
import { BIG, benchDatabase, log, VIEWER } from './payments-data.ts';

const CONNECTIONS = Number(process.env.LOMBARD_BENCH_CONNECTIONS ?? 8);
/** Milliseconds. */
const WARM_UP = 3_000;
const RUN = Number(process.env.LOMBARD_BENCH_MS ?? 8_000);
/** Floor and service alternate, so that a busy moment of the machine does not affect only one of them. */
const ROUNDS = 3;
const LOOK_UPS = 2_000_000;
/** Bytes that are read at once, and that hold the head of an answer. */
const READ_BYTES = 1 << 18;
const HEAD_BYTES = 2_048;

export async function run(): Promise<void> {
  const database = await benchDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-service-'));
  let child: ChildProcess | undefined;
  try {
    const token = await createToken(database.url);
    const started = await startChild(database.url, folder);
    child = started.child;
    const request = `GET /payments?client_id=${BIG} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n\r\n`;
    await load(started.api, request, WARM_UP);
    print('| | requests/s | p50 ms | p99 ms | service CPU us/request | RSS MB |');
    print('|---|---|---|---|---|---|');
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const floor = await floorOf(database.url, folder);
      print(`| the same SQL, ${floor.by} | ${floor.rate.toFixed(0)} | | | | |`);
      const before = await ask(child, 'usage');
      const { rate, p50, p99, count } = await load(started.api, request, RUN);
      const after = await ask(child, 'usage');
      const cpu = (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / count;
      print(
        `| service | ${rate.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${cpu.toFixed(0)} | ${(after.rss / 1e6).toFixed(0)} |`,
      );
      ratios.push(rate / floor.rate);
    }
    print(`ratio: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')} (at least 0.4, aim 0.5)`);
    await refusals(started.api);
    await sessionLookUp(database.url, token);
  } finally {
    if (child?.connected) {
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child.send('stop');
      await ended;
    }
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An access token. @param contact its owner */
export async function createToken(url: string, contact = VIEWER): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const token = randomBytes(32).toString('base64url');
  await client.query(`insert into applications (client_id, name, redirect_uris, refresh_token_days, created_at)
    values ('bench', 'Bench', '{}', 28, now()) on conflict do nothing`);
  await client.query(
    `with g as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       values ('bench', $1, false, '{pwd}', now(), now()) returning id)
     insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
     select $2, id, 'bench', $1, now(), now() + interval '1 day' from g`,
    [contact, sha256(token)],
  );
  await client.end();
  return token;
}

async function startChild(url: string, folder: string): Promise<{ child: ChildProcess; api: URL }> {
  const child = fork(new URL('./service-child.ts', import.meta.url), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      LOMBARD_DATA_DIR: folder,
      LOMBARD_ROLES: 'api,worker',
      LOMBARD_API_PORT: '0',
      LOMBARD_API_RATE: '0',
      LOMBARD_OPERATOR_TOKEN: 'operator-token-of-the-bench',
      // The database is kept for the next run, and so is the key that seals its secrets.
      LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOMBARD_LOG_LEVEL: 'warn',
    },
  });
  const { api } = await ask(child);
  return { child, api: new URL(api) };
}

/** Sends one request after another on each connection, over bare sockets, so that the load itself costs little. */
async function load(api: URL, request: string, duration: number, status = 200) {
  const times: number[] = [];
  const end = performance.now() + duration;
  const began = performance.now();
  const lane = () =>
    new Promise<void>((resolve, reject) => {
      let start = 0;
      let wanted = -1;
      let read = 0;
      const onAnswer = (size: number, buffer: Uint8Array) => {
        if (wanted < 0) {
          const text = Buffer.from(buffer.buffer, buffer.byteOffset, Math.min(size, HEAD_BYTES)).toString('latin1');
          if (!text.startsWith(`HTTP/1.1 ${status}`)) fail(new Error(text));
          wanted = text.indexOf('\r\n\r\n') + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1]);
        }
        read += size;
        if (read < wanted) return true;
        times.push(performance.now() - start);
        if (performance.now() < end) next();
        else socket.destroy();
        return true;
      };
      // All answers are read into one buffer. Node would allocate one for each part.
      const onread = { buffer: Buffer.alloc(READ_BYTES), callback: onAnswer };
      const socket = connect({ port: Number(api.port), host: api.hostname, noDelay: true, onread }, () => next());
      const next = () => {
        [start, wanted, read] = [performance.now(), -1, 0];
        socket.write(request);
      };
      const fail = (error: Error) => {
        reject(error);
        socket.destroy();
      };
      socket.on('error', fail).on('close', () => (performance.now() < end ? reject(new Error('closed')) : resolve()));
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  const seconds = (performance.now() - began) / 1_000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] as number;
  return { rate: times.length / seconds, p50: at(0.5), p99: at(0.99), count: times.length };
}

/** The page's statement alone, by pgbench if it is installed, otherwise by bare connections of the driver. */
async function floorOf(url: string, folder: string): Promise<{ by: string; rate: number }> {
  const view = { clientId: BIG, viewer: VIEWER, now: new Date(), apiUrl: '', trackingCutoff: '2020-01-01' };
  const { text, values } = searchStatement(view, readSearch({}));
  const file = join(folder, 'page.sql');
  writeFileSync(
    file,
    `${text.replace(/\$(\d+)/g, (_, n) => pg.escapeLiteral(String(values[n - 1]))).replaceAll('\n', ' ')};\n`,
  );
  const args = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(CONNECTIONS),
    '-j',
    '2',
    '-T',
    String(Math.round(RUN / 1_000)),
    '-f',
    file,
    url,
  ];
  const result = spawnSync('pgbench', args, { encoding: 'utf8' });
  const rate = /tps = ([\d.]+)/.exec(result.stdout ?? '')?.[1];
  if (rate) return { by: 'pgbench', rate: Number(rate) };
  const pool = createPool(url, log, { max: CONNECTIONS });
  const end = performance.now() + RUN;
  let count = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (; performance.now() < end; count += 1) await pool.query({ name: 'floor', text, values, rowMode: 'array' });
    }),
  );
  await pool.end();
  return { by: 'the bare driver', rate: count / (RUN / 1_000) };
}

/** Requests without a token, compared with bare Fastify that refuses them. */
async function refusals(api: URL): Promise<void> {
  const request = 'GET /payments HTTP/1.1\r\nhost: bench\r\n\r\n';
  const child = fork(new URL('./bare-child.ts', import.meta.url));
  try {
    const bare = new URL((await ask(child)).api);
    const rates: [bare: number, service: number][] = [];
    await load(bare, request, WARM_UP, 401);
    await load(api, request, WARM_UP, 401);
    for (let round = 0; round < ROUNDS; round += 1)
      rates.push([(await load(bare, request, WARM_UP, 401)).rate, (await load(api, request, WARM_UP, 401)).rate]);
    const shown = rates.map(
      ([floor, rate]) => `${rate.toFixed(0)} of ${floor.toFixed(0)}: ${(rate / floor).toFixed(2)}`,
    );
    print(`plain 401 a second, against bare Fastify: ${shown.join(', ')} (aim 0.8)`);
  } finally {
    child.kill();
  }
}

async function sessionLookUp(url: string, token: string): Promise<void> {
  const pool = createPool(url, log, { max: 2 });
  const sessions = new Sessions(pool, new ServiceClock(), log);
  await sessions.start();
  await sessions.find(token);
  const start = performance.now();
  for (let n = 0; n < LOOK_UPS; n += 1) if (sessions.find(token) instanceof Promise) await sessions.find(token);
  print(`a token seen lately: ${(((performance.now() - start) * 1_000) / LOOK_UPS).toFixed(3)} us (at most 1)`);
  await sessions.stop();
  await pool.end();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

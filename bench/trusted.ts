import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Fastify from 'fastify';
import { pino } from 'pino';
import { testAuthority } from '../src/embedded/test-authority.ts';
import { createTlsListener } from '../src/http/trusted/tls.ts';

/**
 * Compares keep-alive requests over mutual TLS with plain HTTP: the same handler, and the same callers (a separate thread, 16 connections).
 * `npm run bench -- trusted [seconds]` prints one JSON object. Rounds alternate, so that a busy machine slows both; the ratio is that of
 * the medians. Target: at least 0.6.
 */
const CONNECTIONS = 16;
const ROUNDS = 5;
const HANDSHAKES = 300;
const BODY = JSON.stringify({
  items: Array.from({ length: 10 }, (_, index) => ({ id: `PAY${index}`, amount: '10.50', currency: 'GBP' })),
});

interface Round {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
}

export async function run([given = '2']: string[]): Promise<void> {
  const seconds = Number(given);
  const directory = await mkdtemp(join(tmpdir(), 'lombard-bench-'));
  const paths = await testAuthority(directory, new Date());
  const app = Fastify();
  app.get('/', (_request, reply) => reply.type('application/json').send(BODY));
  await app.ready();
  const plain = createServer((request, response) => app.routing(request, response));
  const trusted = await createTlsListener({
    handler: (request, response) => app.routing(request, response),
    files: { cert: paths.cert, key: paths.key, ca: [paths.ca], crl: [paths.crl] },
    unread: { refused: () => {} },
    clock: { now: () => new Date() },
    log: pino({ level: 'silent' }),
    isRegistered: async () => true,
  });
  for (const server of [plain, trusted.server]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const identity = {
    ca: await readFile(paths.ca, 'utf8'),
    cert: await readFile(paths.clientCert, 'utf8'),
    key: await readFile(paths.clientKey, 'utf8'),
  };
  const addresses = { plain: `http://127.0.0.1:${port(plain)}`, trusted: `https://127.0.0.1:${port(trusted.server)}` };

  const worker = new Worker(new URL('./trusted-child.ts', import.meta.url), {
    workerData: { identity, connections: CONNECTIONS },
  });
  async function load<T>(order: { address: string; seconds?: number; handshakes?: number }): Promise<T> {
    worker.postMessage(order);
    return (await once(worker, 'message'))[0] as T;
  }

  const results: Record<keyof typeof addresses, Round[]> = { plain: [], trusted: [] };
  const cpu = { plain: 0, trusted: 0 };
  for (const address of Object.values(addresses)) await load({ address, seconds: 0.5 });
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['plain', 'trusted'] as const) {
      const before = process.threadCpuUsage();
      results[kind].push(await load<Round>({ address: addresses[kind], seconds }));
      const used = process.threadCpuUsage(before);
      cpu[kind] += used.user + used.system;
    }
  }
  const shakes = await load<Round>({ address: addresses.trusted, handshakes: HANDSHAKES });

  const middle = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
  const rounded = (number: number, digits = 2) => Number(number.toFixed(digits));
  const summary = (kind: keyof typeof addresses) => {
    const rounds = results[kind];
    const requests = rounds.reduce((sum, round) => sum + round.requests, 0);
    return {
      per_second: Math.round(middle(rounds.map((round) => round.requests / round.seconds))),
      p50_ms: rounded(middle(rounds.map((round) => round.p50))),
      p99_ms: rounded(middle(rounds.map((round) => round.p99))),
      server_cpu_us: rounded(cpu[kind] / requests, 1),
    };
  };
  const [plainSummary, trustedSummary] = [summary('plain'), summary('trusted')];
  const answer = {
    connections: CONNECTIONS,
    plain: plainSummary,
    trusted: trustedSummary,
    ratio: rounded(trustedSummary.per_second / plainSummary.per_second),
    handshakes_per_second: Math.round(shakes.requests / shakes.seconds),
    rss_mb: Math.round(process.memoryUsage.rss() / 1e6),
  };
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);

  await worker.terminate();
  trusted.server.closeAllConnections();
  await trusted.close();
  plain.closeAllConnections();
  plain.close();
  await app.close();
  await rm(directory, { recursive: true });
}

import { Pool } from 'undici';

/** The callers of bench/identity.ts. */

export type Order =
  | { kind: 'refresh'; url: string; authorization: string; tokens: string[]; seconds: number }
  | { kind: 'search'; url: string; path: string; token: string; perSecond: number; callers: number; seconds: number }
  | {
      kind: 'sign-in';
      url: string;
      emails: string[];
      password: string;
      clientId: string;
      callers: number;
      seconds: number;
    };

export interface Measured {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

async function post(
  pool: Pool,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  const body = new URLSearchParams(fields).toString();
  const answer = await pool.request({ path, method: 'POST', body, headers: { ...FORM, ...headers } });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}

/** Each chain refreshes its own token repeatedly. */
async function refresh(
  order: Extract<Order, { kind: 'refresh' }>,
  pool: Pool,
  latencies: number[],
  end: number,
): Promise<void> {
  await Promise.all(
    order.tokens.map(async (token) => {
      let current = token;
      while (performance.now() < end) {
        const started = performance.now();
        const answer = await post(
          pool,
          '/token',
          { grant_type: 'refresh_token', refresh_token: current, scope: 'openid' },
          { authorization: order.authorization },
        );
        current = answer.refresh_token ?? '';
        latencies.push(performance.now() - started);
      }
    }),
  );
}

/** Sends requests at a steady rate, whether or not earlier ones were answered; or as callers that wait only for their answers. */
async function search(
  order: Extract<Order, { kind: 'search' }>,
  pool: Pool,
  latencies: number[],
  end: number,
): Promise<void> {
  const one = async (planned: number) => {
    const answer = await pool.request({
      path: order.path,
      method: 'GET',
      headers: { authorization: `Bearer ${order.token}` },
    });
    await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`search: ${answer.statusCode}`);
    latencies.push(performance.now() - planned);
  };
  const open = Array.from({ length: order.callers }, async () => {
    while (performance.now() < end) await one(performance.now());
  });
  for (let due = performance.now(); order.perSecond > 0 && due < end; due += 1_000 / order.perSecond) {
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    open.push(one(due));
  }
  await Promise.all(open);
}

async function signIn(
  order: Extract<Order, { kind: 'sign-in' }>,
  pool: Pool,
  latencies: number[],
  end: number,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: order.callers }, async () => {
      while (performance.now() < end) {
        const started = performance.now();
        const email = order.emails[next++ % order.emails.length] ?? '';
        await post(
          pool,
          '/authenticate',
          { email, password: order.password, client_id: order.clientId, state: 's' },
          { 'no-redirect': 'application/json' },
        );
        latencies.push(performance.now() - started);
      }
    }),
  );
}

process.on('message', async (order: Order) => {
  const pool = new Pool(order.url, { connections: 64, pipelining: 1 });
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + order.seconds * 1_000;
  if (order.kind === 'refresh') await refresh(order, pool, latencies, end);
  else if (order.kind === 'search') await search(order, pool, latencies, end);
  else await signIn(order, pool, latencies, end);
  await pool.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  process.send?.({
    requests: latencies.length,
    seconds: (performance.now() - started) / 1_000,
    p50: at(0.5),
    p99: at(0.99),
  } satisfies Measured);
});

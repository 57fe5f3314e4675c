/**
 * The pages in Chromium, for a client with 1,000,000 payments. It measures the first page and its script, a search from key press to rows,
 * scrolling over 1,000 rows, memory, and the institution's search. `npm run bench -- console`; docs/performance-pages.md has the numbers.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { cookieName } from '../src/http/server/cookie.ts';
import { randomToken, sha256 } from '../src/values/crypto.ts';
import { skip, startBrowser, type TestBrowser } from '../test/world/browser.ts';
import { ask } from './ask.ts';
import { BIG, benchDatabase, VIEWER } from './payments-data.ts';

const TOKEN = 'operator-token-of-the-bench';
const FIRST_PAGES = 5;
const SEARCH_ROUNDS = Number(process.env.LOMBARD_BENCH_RUNS ?? 20);
const SCROLLED_ROWS = 1_000;
const WHEEL_STEPS = 120;
const WHEEL_PIXELS = 400;

interface World {
  browser: TestBrowser;
  api: string;
  operator: string;
  secret: string;
}

export async function run(): Promise<void> {
  if (skip) throw new Error(skip);
  const database = await benchDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-console-'));
  const child = fork(new URL('./service-child.ts', import.meta.url), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      LOMBARD_DATA_DIR: folder,
      LOMBARD_ROLES: 'api,operator',
      LOMBARD_API_PORT: '0',
      LOMBARD_OPERATOR_PORT: '0',
      LOMBARD_API_RATE: '0',
      LOMBARD_OPERATOR_TOKEN: TOKEN,
      // The database and its sealed secrets are kept between runs.
      LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOMBARD_LOG_LEVEL: 'warn',
    },
  });
  const browser = await startBrowser();
  try {
    const { api, operator } = await ask(child);
    const world = { browser, api, operator, secret: await createSession(database.url) };
    await measureFirstPage(world);
    await measureSearch(world);
    await measureScrolling(world);
    await measureStaffSearch(world, database.url);
    print(`service: ${((await ask(child, 'usage')).rss / 1e6).toFixed(0)} MB`);
  } finally {
    await browser.close();
    if (child.connected) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.send('stop');
      await ended;
    }
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A browser session of the contact with all permissions. @returns its cookie */
async function createSession(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const secret = randomToken();
  await client.query(
    `with made as (insert into grants (application_id, contact_id, trusted, methods, authenticated_at, created_at)
       values ('lombard-app', $1, false, '{pwd}', now(), now()) returning id),
     token as (insert into access_tokens (token_sha256, grant_id, application_id, contact_id, issued_at, expires_at)
       select $2, id, 'lombard-app', $1, now(), now() + interval '12 hours' from made)
     insert into page_sessions (id, secret_sha256, grant_id, contact_id, token_sha256, browser, created_at, last_active_at, expires_at)
     select $4, $3, id, $1, $2, 'bench', now(), now(), now() + interval '12 hours' from made`,
    [VIEWER, sha256(randomToken()), sha256(secret), randomUUID()],
  );
  await client.end();
  return secret;
}

/** A page of a browser without any cache, only with its session. */
async function open({ browser, api, secret }: World): Promise<Page> {
  const page = await browser.open({ viewport: { width: 1280, height: 900 } });
  await page.context().addCookies([{ name: cookieName({ name: 'app', address: api }), value: secret, url: api }]);
  return page;
}

/** Milliseconds on the page's own clock from the navigation to the first frame with the figures. */
const FIGURES_SHOWN = `new Promise((resolve) => {
  const look = (now) => document.querySelectorAll('.figure-count').length === 3 ? resolve(now) : requestAnimationFrame(look);
  requestAnimationFrame(look);
})`;

async function measureFirstPage(world: World): Promise<void> {
  const times: number[] = [];
  let scriptBytes = 0;
  for (let n = 0; n < FIRST_PAGES; n += 1) {
    const page = await open(world);
    const scripts = new Set<string>();
    scriptBytes = 0;
    const debug = await page.context().newCDPSession(page);
    await debug.send('Network.enable');
    debug.on('Network.responseReceived', ({ requestId, type }) => type === 'Script' && scripts.add(requestId));
    debug.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) scriptBytes += encodedDataLength;
    });
    await page.goto(`${world.api}/app?client_id=${BIG}`, { waitUntil: 'commit' });
    times.push((await page.evaluate(FIGURES_SHOWN)) as number);
    await page.waitForLoadState('networkidle');
    await page.context().close();
  }
  print(
    `first page, cold, best of ${FIRST_PAGES}: ${Math.min(...times).toFixed(0)} ms (${times.map(Math.round).join(', ')})`,
  );
  print(`script transferred: ${scriptBytes} bytes`);
}

/** Waits in the page for the rows of another search. Returns the milliseconds from the key or click to the frame with the rows. */
const WATCH = `new Promise((resolve) => {
  const rows = () => [...document.querySelectorAll('tbody tr')].slice(0, 3).map((row) => row.textContent);
  const shown = () => document.querySelector('[role=status]')?.textContent + rows();
  const before = shown();
  let began;
  const start = (event) => { began ??= event.timeStamp; };
  for (const name of ['keydown', 'pointerdown']) addEventListener(name, start, { capture: true });
  const look = () => {
    const isOther = began !== undefined && shown() !== before && rows().length > 0;
    if (isOther && document.querySelector('section[aria-busy=true]') === null) resolve(performance.now() - began);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

async function measureSearch(world: World): Promise<void> {
  const page = await open(world);
  await page.goto(`${world.api}/app/payments?client_id=${BIG}`);
  await page.locator('tbody tr').first().waitFor();
  print(await page.locator('[role=status]', { hasText: 'payments' }).first().innerText());
  const heard = async (act: () => Promise<void>) => {
    const took = page.evaluate(WATCH) as Promise<number>;
    await act();
    return took;
  };
  const reference = page.getByLabel('Reference', { exact: true });
  const searches: Record<string, (n: number) => Promise<void>> = {
    'a reference, Enter': async (n) => {
      await reference.fill(`Invoice ${1_000 + n * 37}`);
      await reference.press('Enter');
    },
    'a currency and a status, Enter': async (n) => {
      const currency = page.getByLabel('Currency', { exact: true });
      await reference.fill('');
      await page.getByLabel('Status', { exact: true }).selectOption(n % 2 ? 'complete' : 'pending');
      await currency.fill(n % 2 ? 'EUR' : 'SEK');
      await currency.press('Enter');
    },
    'the next page': async () => page.getByRole('button', { name: 'Next page', exact: true }).press('Enter'),
    'another order': async () => page.getByRole('button', { name: /^Payment date/ }).press('Enter'),
  };
  print('| what | p50 ms | p95 ms | longest ms |');
  print('|---|---|---|---|');
  for (const [name, act] of Object.entries(searches)) {
    const times: number[] = [];
    for (let n = 0; n < SEARCH_ROUNDS; n += 1) times.push(await heard(() => act(n)));
    print(`| ${name} | ${quantiles(times)} |`);
  }
  await page.context().close();
}

/** Scrolls a page of 1,000 rows by wheel steps, and measures the time between frames. */
async function measureScrolling(world: World): Promise<void> {
  const page = await open(world);
  await page.goto(`${world.api}/app/payments?client_id=${BIG}&page_size=${SCROLLED_ROWS}`);
  await page
    .locator('tbody tr')
    .nth(SCROLLED_ROWS - 1)
    .waitFor({ state: 'attached' });
  await page.mouse.move(640, 600);
  await page.evaluate(`{
    globalThis.frames_ = [];
    let last = performance.now();
    const next = (now) => { globalThis.frames_.push(now - last); last = now; requestAnimationFrame(next); };
    requestAnimationFrame(next);
  }`);
  for (let step = 0; step < WHEEL_STEPS; step += 1) await page.mouse.wheel(0, WHEEL_PIXELS);
  const frames = (await page.evaluate('globalThis.frames_.slice(1)')) as number[];
  const late = frames.filter((each) => each > 25).length;
  print(
    `scrolling ${SCROLLED_ROWS} rows: ${frames.length} frames, p50, p95 and longest ${quantiles(frames)}; ${late} late by a frame`,
  );
  const debug = await page.context().newCDPSession(page);
  await debug.send('Performance.enable');
  const { metrics } = await debug.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((each) => each.name === name)?.value ?? 0;
  print(`page with ${SCROLLED_ROWS} rows: ${(of('JSHeapUsedSize') / 1e6).toFixed(0)} MB of heap, ${of('Nodes')} nodes`);
  await page.context().close();
}

/** The institution's search for existing and missing records, from the key press to the results. */
async function measureStaffSearch({ browser, operator }: World, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select distinct on (reference) payment_id, uuid, reference from
      (select payment_id, uuid, reference from payments where client_id = $1 order by created offset 1000 limit $2) p`,
    // Three payments in a row share a reference, and a page does not repeat the same request.
    [BIG, SEARCH_ROUNDS * 3],
  );
  await client.end();
  const page = await browser.open({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${operator}/console`);
  await page.getByLabel('Operator token').fill(TOKEN);
  await page.keyboard.press('Enter');
  const field = page.getByRole('searchbox', { name: 'Search', exact: true });
  await field.waitFor();
  print('| the institution searches for | p50 ms | p95 ms | longest ms |');
  print('|---|---|---|---|');
  for (const what of ['payment_id', 'uuid', 'reference'] as const) {
    const times: number[] = [];
    for (const row of rows) {
      await field.fill(row[what]);
      const answered = page.waitForResponse((each) => each.url().endsWith('/console/search'));
      const began = performance.now();
      await field.press('Enter');
      await answered;
      times.push(performance.now() - began);
    }
    print(`| ${what} | ${quantiles(times)} |`);
  }
  await page.context().close();
}

function quantiles(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(0);
  return `${at(0.5)} | ${at(0.95)} | ${at(1)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

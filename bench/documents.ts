import { fork } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { documentPdf } from '../src/documents/document.ts';
import { Renderer } from '../src/documents/renderer.ts';
import { statementCamt } from '../src/statements/camt.ts';
import { statementCsv } from '../src/statements/csv.ts';
import { statementPdf } from '../src/statements/pdf.ts';
import { institution, mixedAmount, payment, section, statement } from '../test/world/documents.ts';

/**
 * Measures drawing alone: a receipt, and statements of many lines. Then measures how documents affect the search of a running service. `npm
 * run bench -- documents [lines]` prints one JSON object. Peak memory is the resident size of the process, including all threads.
 */

const RECEIPTS = 1_000;
const WARM_UP = 100;
/** Searches per second, documents per second beside them, and alternating rounds of each kind: a busy machine slows both. */
const SEARCHES = 100;
const DOCUMENTS = 5;
const ROUNDS = 6;
const ROUND_SECONDS = 10;

const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;
const long = (lines: number) => statement(section('GBP', 1_250_000n, lines, mixedAmount));

/** Runs some work, and watches the resident size. */
async function measured<T>(run: () => Promise<T>): Promise<{ value: T; seconds: number; peak: number }> {
  globalThis.gc?.();
  let peak = process.memoryUsage.rss();
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const start = performance.now();
  try {
    const value = await run();
    return { value, seconds: (performance.now() - start) / 1000, peak: Math.max(peak, process.memoryUsage.rss()) };
  } finally {
    clearInterval(watch);
  }
}

async function drained(stream: AsyncIterable<Buffer | string>): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

async function receipts(renderer: Renderer) {
  const times: number[] = [];
  for (let index = 0; index < WARM_UP + RECEIPTS; index += 1) {
    const facts = { ...payment, payment_id: `PAY${index}`, reference: `INV-${index}`, amount: `${1000 + index}.5` };
    const start = performance.now();
    await documentPdf({ renderer, institution }, 'pr', facts);
    if (index >= WARM_UP) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)]! * 100) / 100;
  return { p50_ms: at(0.5), p99_ms: at(0.99), rss_mb: megabytes(process.memoryUsage.rss()) };
}

interface Running {
  api: string;
  token: string;
  clientId: string;
  payments: number;
}

/** Times of searches at a steady rate, each from the moment it was due, beside a given number of documents per second. */
async function round({ api, token, clientId, payments }: Running, documents: number): Promise<number[]> {
  const get = async (path: string) => {
    const response = await fetch(`${api}${path}&client_id=${clientId}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  };
  const times: number[] = [];
  const start = performance.now();
  const at = async (due: number, path: string, kept: boolean) => {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + due - performance.now())));
    const began = Math.max(performance.now(), start + due);
    await get(path);
    if (kept) times.push(performance.now() - began);
  };
  const each = (count: number, path: (index: number) => string, kept: boolean) =>
    Array.from({ length: count * ROUND_SECONDS }, (_, index) => at((index * 1_000) / count, path(index), kept));
  await Promise.all([
    ...each(SEARCHES, (index) => `/payments?page=${1 + (index % 20)}`, true),
    ...each(
      documents,
      (index) => `/documents?type=${index % 2 ? 'pi' : 'pr'}&id=P${1 + ((index * 7) % payments)}`,
      false,
    ),
  ]);
  return times;
}

async function searchBesideDocuments() {
  const child = fork(fileURLToPath(new URL('documents-child.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const running = await new Promise<Running>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Running));
    child.once('exit', (code) => reject(new Error(`the service ended: ${code}`)));
  });
  await round(running, DOCUMENTS);
  const times: Record<'without' | 'with', number[]> = { without: [], with: [] };
  for (let index = 0; index < ROUNDS; index += 1) {
    times.without.push(...(await round(running, 0)));
    times.with.push(...(await round(running, DOCUMENTS)));
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.send('stop');
  await ended;
  return {
    searches_a_second: SEARCHES,
    documents_a_second: DOCUMENTS,
    without: shares(times.without),
    with: shares(times.with),
  };
}

function shares(times: number[]) {
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)]! * 100) / 100;
  return { requests: times.length, p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99) };
}

export async function run([given]: string[]): Promise<void> {
  const lines = Number(given ?? 100_000);
  // This comes first, while this process, which times the searches, has no garbage to collect.
  const result: Record<string, unknown> = { lines, search: await searchBesideDocuments() };
  for (const [name, write] of [
    ['csv', () => drained(statementCsv(long(lines)))],
    ['camt053', () => drained(statementCamt(long(lines), { name: institution.name }))],
  ] as const) {
    const { value, seconds, peak } = await measured(write);
    result[name] = {
      seconds: Number(seconds.toFixed(2)),
      lines_per_second: Math.round(lines / seconds),
      megabytes: megabytes(value),
      peak_rss_mb: megabytes(peak),
    };
  }
  const renderer = new Renderer();
  result.receipt = await receipts(renderer);
  const pdf = await measured(() => statementPdf(renderer, long(lines), institution));
  result.pdf = {
    seconds: Number(pdf.seconds.toFixed(2)),
    lines_per_second: Math.round(lines / pdf.seconds),
    megabytes: megabytes(pdf.value.length),
    peak_rss_mb: megabytes(pdf.peak),
  };
  result.receipt_after_statement = await receipts(renderer);
  await renderer.stop();
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

import { performance } from 'node:perf_hooks';
import { documentPdf } from '../src/documents/document.ts';
import { Renderer } from '../src/documents/renderer.ts';
import { statementCamt } from '../src/statements/camt.ts';
import { statementCsv } from '../src/statements/csv.ts';
import { statementPdf } from '../src/statements/pdf.ts';
import { institution, mixedAmount, payment, section, statement } from '../test/document-samples.ts';

/**
 * Drawing alone: a receipt, and statements of many lines. `node bench/documents.ts [lines]` prints one JSON object.
 * Peak memory is the resident size of the process, all threads included.
 */

const RECEIPTS = 1_000;
const WARM_UP = 100;
const lines = Number(process.argv[2] ?? 100_000);

const megabytes = (bytes: number) => Math.round(bytes / 1e5) / 10;
const long = () => statement(section('GBP', 1_250_000n, lines, mixedAmount));

/** Runs, watching the resident size. */
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
    await documentPdf(renderer, 'pr', facts, institution);
    if (index >= WARM_UP) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)]! * 100) / 100;
  return { p50_ms: at(0.5), p99_ms: at(0.99), rss_mb: megabytes(process.memoryUsage.rss()) };
}

const result: Record<string, unknown> = { lines };
for (const [name, write] of [
  ['csv', () => drained(statementCsv(long()))],
  ['camt053', () => drained(statementCamt(long(), { name: institution.name }))],
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
const pdf = await measured(() => statementPdf(renderer, long(), institution));
result.pdf = {
  seconds: Number(pdf.seconds.toFixed(2)),
  lines_per_second: Math.round(lines / pdf.seconds),
  megabytes: megabytes(pdf.value.length),
  peak_rss_mb: megabytes(pdf.peak),
};
result.receipt_after_statement = await receipts(renderer);
await renderer.stop();
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);

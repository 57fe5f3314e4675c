/** Shared code of the payment search benches: measures one search in several places. */
import type { Pool } from '../../src/database/database.ts';
import { searchPayments } from '../../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../../src/payments/search/search-parameters.ts';
import { VIEWER } from '../payments-data.ts';

const WARM_UP = 30;
const MAX_SHAPE_MS = 6_000;
const RUNS = Number(process.env.LOMBARD_BENCH_RUNS ?? 300);
const NOW = new Date('2026-11-01T00:00:00Z');

/** A search of one client, over one connection. */
interface SearchCase {
  pool: Pool;
  client: string;
  query: SearchQuery;
}

interface Measured {
  total: number;
  /** The number of searches, including the warm-up. */
  runs: number;
  p50: number;
  p99: number;
}

export const view = (clientId: string) => ({
  clientId,
  viewer: VIEWER,
  now: NOW,
  apiUrl: 'https://api.example.com',
  trackingCutoff: '2020-01-01',
});

/** Runs two cases in turn, so that other load on the machine slows both. Times are in milliseconds. */
export async function measure(cases: [SearchCase, SearchCase]): Promise<[Measured, Measured]> {
  const results = cases.map((each) => ({
    ...each,
    search: readSearch(each.query),
    total: 0,
    times: [] as number[],
  }));
  const began = performance.now();
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    for (const each of results) {
      const start = performance.now();
      each.total = (await searchPayments(each.pool, view(each.client), each.search)).total;
      if (run >= WARM_UP) each.times.push(performance.now() - start);
    }
    // A slow shape need not be repeated three hundred times.
    if (run > WARM_UP + 20 && performance.now() - began > MAX_SHAPE_MS) break;
  }
  return results.map(({ total, times }) => {
    const runs = WARM_UP + times.length;
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
    return { total, runs, p50: at(0.5), p99: at(0.99) };
  }) as [Measured, Measured];
}

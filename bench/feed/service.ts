/** The service in its own process, with a change feed that can be switched off. The difference is the cost of the feed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type pg from 'pg';
import { ask } from '../ask.ts';
import { parentOf, serverSeconds } from './processor-time.ts';

export const TOKEN = 'operator-token-of-the-bench';

export interface FedService {
  pid: number;
  operator: string;
  api: string;
  /** Whether transactions write their changes from now on. */
  feed(on: boolean): Promise<void>;
  /** What some calls send to the database (LOMBARD_BENCH_RECORDED). */
  recording(calls: () => Promise<unknown>): Promise<string>;
  stop(): Promise<void>;
}

/** @param environment LOMBARD_... variables besides those of the bench */
export async function startFedService(url: string, folder: string, environment = {}): Promise<FedService> {
  const child = fork(new URL('./child.ts', import.meta.url), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      LOMBARD_DATA_DIR: folder,
      LOMBARD_OPERATOR_TOKEN: TOKEN,
      LOMBARD_API_PORT: '0',
      LOMBARD_AUTH_PORT: '0',
      LOMBARD_TRUSTED_PORT: '0',
      LOMBARD_OPERATOR_PORT: '0',
      LOMBARD_HEALTH_PORT: '0',
      LOMBARD_LOG_LEVEL: 'warn',
      ...environment,
    },
  });
  const { operator, api }: { operator: string; api: string } = await ask(child);
  return {
    pid: child.pid as number,
    operator,
    api,
    feed: async (on) => {
      await ask(child, on ? 'feed' : 'no feed');
    },
    recording: async (calls) => {
      await ask(child, 'record');
      await calls();
      return (await ask(child, 'recorded')).recording;
    },
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** The processor time of the server that a connection leads to, in seconds. */
export async function serverClock(client: pg.Client): Promise<() => number> {
  const { rows } = await client.query<{ pid: number }>(
    "select pid from pg_stat_activity where backend_type = 'checkpointer'",
  );
  const postmaster = parentOf(rows[0]?.pid as number);
  return () => serverSeconds(postmaster);
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

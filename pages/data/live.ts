import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changePosition, liveKey } from './payments.ts';
import { PATIENCE_MS } from './tabs.ts';

/** How often a page asks whether anything has changed. It asks rarely while hidden. */
const INTERVAL_MS = 1_500;
const HIDDEN_INTERVAL_MS = 20_000;
/** The least time between two fetches for a busy client. With the interval above, a change is seen within five seconds. */
const MIN_FETCH_INTERVAL_MS = 2_000;
/** How long a page waits for the first position. */
const FIRST_TIMEOUT_MS = 1_000;

/** The position at which each client's data was fetched: the next page continues from there. */
const positions = new Map<string, number>();

/** Asks for a client's position before a page fetches the client's data, so that it need not fetch everything twice. */
export async function learnPosition(clientId: string): Promise<void> {
  // If no answer comes, the page learns it at its first poll.
  const now = await changePosition(clientId, AbortSignal.timeout(FIRST_TIMEOUT_MS)).catch(() => undefined);
  if (now !== undefined && !positions.has(clientId)) positions.set(clientId, now);
}

/**
 * Follows the changes of a client's payments: what the page shows is fetched again within seconds of a change. Of the tabs that show the
 * client, one polls and tells the others. If it stops, another one takes over.
 */
export function useLive(clientId: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const ended = new AbortController();
    const tabs = new BroadcastChannel(`lombard-changes-${clientId}`);
    let fetchedMs = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout>;
    const learn = (now: number) => {
      const position = positions.get(clientId);
      // The first answer may be newer than the page's data, so it fetches once more.
      const isNew = position === undefined || now > position;
      const rest = document.hidden ? HIDDEN_INTERVAL_MS : MIN_FETCH_INTERVAL_MS;
      if (!isNew || performance.now() - fetchedMs < rest) return;
      fetchedMs = performance.now();
      positions.set(clientId, now);
      void queries.invalidateQueries({ queryKey: liveKey(clientId) });
    };
    const wait = (visibleMs: number) => {
      clearTimeout(timer);
      if (!ended.signal.aborted) timer = setTimeout(look, document.hidden ? HIDDEN_INTERVAL_MS : visibleMs);
    };
    const look = async () => {
      clearTimeout(timer);
      try {
        const now = await changePosition(clientId, ended.signal);
        tabs.postMessage(now);
        learn(now);
      } catch {
        // The frame reports the lost connection, and failed queries are repeated.
      }
      wait(INTERVAL_MS);
    };
    tabs.onmessage = ({ data }: MessageEvent<number>) => {
      learn(data);
      wait(INTERVAL_MS + PATIENCE_MS);
    };
    const onVisible = () => {
      if (!document.hidden) void look();
    };
    document.addEventListener('visibilitychange', onVisible);
    void look();
    return () => {
      ended.abort();
      clearTimeout(timer);
      tabs.close();
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [clientId, queries]);
}

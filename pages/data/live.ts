import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changePosition, liveKey } from './payments.ts';
import { PATIENCE_MS } from './tabs.ts';

/** How often a page asks whether anything has changed: seldom while nobody sees it. */
const INTERVAL_MS = 1_500;
const HIDDEN_INTERVAL_MS = 20_000;
/** At a busy client a page fetches again so often at most: with the interval above, a change is seen within five seconds. */
const MIN_FETCH_INTERVAL_MS = 2_000;
/** A page waits so long for the first position. */
const FIRST_TIMEOUT_MS = 1_000;

/** The position that each client's data was fetched at: the next page goes on from there. */
const positions = new Map<string, number>();

/** Asks for a client's position before a page fetches anything of the client, so that it need not fetch everything once more. */
export async function learnPosition(clientId: string): Promise<void> {
  // Where no answer comes, the page learns it with its first look.
  const now = await changePosition(clientId, AbortSignal.timeout(FIRST_TIMEOUT_MS)).catch(() => undefined);
  if (now !== undefined && !positions.has(clientId)) positions.set(clientId, now);
}

/**
 * Follows the changes of a client's payments: what is shown of them is fetched again within seconds of each. Of the browser's tabs that
 * show the client one asks, and tells the others; where it falls silent, another one goes on.
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
      // The first answer may be newer than what the page has fetched: it fetches once more.
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
        // The frame says that the connection is lost, and what failed is asked again.
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

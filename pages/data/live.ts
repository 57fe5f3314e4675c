import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changePosition, liveKey } from './payments.ts';

/** How often a page asks whether anything has changed: seldom while nobody sees it. */
const INTERVAL_MS = 1_500;
const HIDDEN_INTERVAL_MS = 20_000;
/** At a busy client a page fetches again so often at most: with the interval above, a change is seen within five seconds. */
const MIN_FETCH_INTERVAL_MS = 2_000;

/** The position that each client's data was fetched at: the next page goes on from there. */
const positions = new Map<string, number>();

/** Follows the changes of a client's payments: what is shown of them is fetched again within seconds of each. */
export function useLive(clientId: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const ended = new AbortController();
    let fetchedMs = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      clearTimeout(timer);
      try {
        const now = await changePosition(clientId, ended.signal);
        const position = positions.get(clientId);
        // The first answer may be newer than what the page has fetched: it fetches once more.
        const isNew = position === undefined || now > position;
        if (isNew && performance.now() - fetchedMs >= MIN_FETCH_INTERVAL_MS) {
          fetchedMs = performance.now();
          positions.set(clientId, now);
          void queries.invalidateQueries({ queryKey: liveKey(clientId) });
        }
      } catch {
        // The frame says that the connection is lost, and what failed is asked again.
      }
      if (!ended.signal.aborted) timer = setTimeout(look, document.hidden ? HIDDEN_INTERVAL_MS : INTERVAL_MS);
    };
    const onVisible = () => {
      if (!document.hidden) void look();
    };
    document.addEventListener('visibilitychange', onVisible);
    void look();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [clientId, queries]);
}

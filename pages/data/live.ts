import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changePosition, liveKey } from './payments.ts';

/** How often a page asks whether anything has changed: seldom while nobody sees it. */
const INTERVAL_MS = 2_000;
const HIDDEN_INTERVAL_MS = 20_000;

/** Follows the changes of a client's payments: what is shown of them is fetched again within seconds of each. */
export function useLive(clientId: string): void {
  const queries = useQueryClient();
  useEffect(() => {
    const ended = new AbortController();
    let position: number | undefined;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      clearTimeout(timer);
      try {
        const now = await changePosition(clientId, ended.signal);
        // The first answer may be newer than what the page has fetched: it fetches once more where it can have missed something.
        if (position === undefined || now > position) void queries.invalidateQueries({ queryKey: liveKey(clientId) });
        position = Math.max(position ?? 0, now);
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

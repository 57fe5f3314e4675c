import { useSyncExternalStore } from 'react';

/** The last search text. It is in no address, because it can be an email. */
let sought = '';
const listeners = new Set<() => void>();

export function seek(text: string): void {
  sought = text;
  for (const listener of listeners) listener();
}

export function useSought(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => sought,
  );
}

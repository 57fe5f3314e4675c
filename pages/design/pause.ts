import { useEffect, useState } from 'react';

/** What is typed is looked for once nothing was typed for so long. */
const PAUSE_MS = 200;

/** A text, once it has not changed for a moment. */
export function usePause(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

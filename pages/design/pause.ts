import { useEffect, useState } from 'react';

/** The search starts when the person has typed nothing for this long. */
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

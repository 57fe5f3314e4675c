import { useEffect, useState } from 'react';

const SECOND_MS = 1_000;

/** Whole seconds until a time on this device's clock; 0 after it. */
export function useSecondsLeft(untilMs: number): number {
  const [left, setLeft] = useState(() => secondsUntil(untilMs));
  useEffect(() => {
    const timer = setInterval(() => setLeft(secondsUntil(untilMs)), SECOND_MS / 4);
    return () => clearInterval(timer);
  }, [untilMs]);
  return left;
}

function secondsUntil(moment: number): number {
  return Math.max(0, Math.ceil((moment - Date.now()) / SECOND_MS));
}

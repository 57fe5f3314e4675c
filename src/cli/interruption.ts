import { outputClosed } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborted by the first SIGINT or SIGTERM, and where the output is closed. The second signal ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) process.once(name, () => controller.abort());
  return AbortSignal.any([controller.signal, outputClosed]);
}

/** As `interruption`, for a command that has something to tidy up: the second signal is its own, and only a third one ends the process. */
export function interruptions(): { first: AbortSignal; second: AbortSignal } {
  const second = new AbortController();
  const first = interruption();
  first.addEventListener('abort', () => {
    for (const name of SIGNALS) process.once(name, () => second.abort());
  });
  return { first, second: second.signal };
}

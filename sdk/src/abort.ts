/** What every function that takes a signal rejects with: an `AbortError`, whatever reason the signal was given. */
function abortError({ reason }: AbortSignal): unknown {
  if (reason instanceof DOMException && reason.name === 'AbortError') return reason;
  const error = new DOMException('The call was aborted', 'AbortError');
  return Object.defineProperty(error, 'cause', { value: reason, configurable: true, writable: true });
}

/** @throws AbortError where the signal has been aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** The promise, unless the signal is aborted before: then an AbortError, while what the promise stands for goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(abortError(signal));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Waits; an abort ends the wait. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await abortable(waited, signal);
  } finally {
    clearTimeout(timer);
  }
}

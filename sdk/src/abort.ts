/** The `AbortError` that functions with a signal reject with, whatever reason the signal was given. */
function abortError({ reason }: AbortSignal): unknown {
  if (reason instanceof DOMException && reason.name === 'AbortError') return reason;
  const error = new DOMException('The call was aborted', 'AbortError');
  return Object.defineProperty(error, 'cause', { value: reason, configurable: true, writable: true });
}

/** @throws AbortError if the signal has been aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** The promise, or an AbortError if the signal is aborted first. The work behind the promise goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const stop = () => reject(abortError(signal));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Waits for some milliseconds; an abort ends the wait. */
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

/** HTTP calls of the bench, several at a time. */
import { setTimeout as pause } from 'node:timers/promises';
import { TOKEN } from '../feed/service.ts';

const LANES = 4;

/** Runs the operations 0 to count - 1. @param perSecond the most that may start in a second */
export async function lanes(
  count: number,
  operation: (n: number) => Promise<unknown>,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<void> {
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (next < count) {
        const n = next++;
        const early = began + (n * 1_000) / perSecond - performance.now();
        if (early > 0) await pause(early);
        await operation(n);
      }
    }),
  );
}

/** @throws if the call is refused */
export async function get(url: string, token: string): Promise<void> {
  await answered(url, await fetch(url, { headers: { authorization: `Bearer ${token}` } }));
}

/** Calls the operator interface. @throws if the call is refused */
export async function post(url: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  await answered(url, await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function answered(url: string, answer: Response): Promise<void> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
}

import { Worker } from 'node:worker_threads';
import type { Initiation, Refusal } from './initiation.ts';

/** Milliseconds that reading a file may take. 5,000 transactions take one second on an idle machine. */
const READING_LIMIT_MS = 60_000;

/** Only one file is read at a time, because each can take 200 MB meanwhile. Others wait in order of arrival. */
let before: Promise<unknown> = Promise.resolve();

/**
 * Reads a pain.001 in a thread of its own. The thread loads the XML library and ends after the file, which frees its memory. So no file
 * keeps the service from answering others.
 * @param bytes the file; afterwards they belong to the thread
 * @returns its contents, or why it is refused
 */
export function readInitiation(bytes: Uint8Array<ArrayBuffer>): Promise<Initiation | Refusal> {
  const reading = before.then(() => readAlone(bytes));
  before = reading.catch(() => undefined);
  return reading;
}

async function readAlone(bytes: Uint8Array<ArrayBuffer>): Promise<Initiation | Refusal> {
  const worker = new Worker(new URL('./reading-thread.ts', import.meta.url), {
    workerData: bytes,
    transferList: [bytes.buffer],
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => resolve({ code: 'FF01', details: 'reading the file takes too long' }), READING_LIMIT_MS);
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread that reads a file ended without an answer')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** Whether a file was refused. */
export function isRefusal(read: Initiation | Refusal): read is Refusal {
  return 'details' in read;
}

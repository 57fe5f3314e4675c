import { parentPort, workerData } from 'node:worker_threads';
import { readRevocationLists } from './revocation-list-reader.ts';

// Answers the lists, or the text of what is wrong with them.
try {
  parentPort?.postMessage(readRevocationLists(String(workerData)));
} catch (error) {
  parentPort?.postMessage(error instanceof Error ? error.message : String(error));
}

import { parentPort, workerData } from 'node:worker_threads';
import { readRevocationLists } from './revocation-list-reader.ts';

// Answers with the lists, or with the text of the error.
try {
  parentPort?.postMessage(readRevocationLists(String(workerData)));
} catch (error) {
  parentPort?.postMessage(error instanceof Error ? error.message : String(error));
}

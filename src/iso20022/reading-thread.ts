import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../process/thread-priority.ts';
import { parseInitiation } from './parser.ts';

/** Priority while all cores are busy (`nice`: 0 to 19; a higher value yields more). */
const NICENESS = 10;

// Answers with the contents of the file, or why it is refused. Other clients' requests come first.
giveWay(NICENESS, false);
parentPort?.postMessage(parseInitiation(workerData as Uint8Array));

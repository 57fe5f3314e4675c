/**
 * Runs all tests: `npm test`. One PostgreSQL for all files, each with databases of its own; the runner's counts come last.
 * `node test/run.ts webhooks` runs the files whose paths contain the word. LOMBARD_TEST_DATABASE_URL names a server to run them on.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBundle } from './world/bundle.ts';
import { openServer } from './world/database.ts';
import { endWithTests } from './world/leftovers.ts';
import { memoryFolder } from './world/memory-folder.ts';
import { buildPages } from './world/pages-build.ts';
import { groupTests } from './world/test-groups.ts';

/** Folders at once. The machines have two cores; with more at once, parts that wait for a peer run out of time on a slow one. */
const CONCURRENCY = 3;

/**
 * Where Node keeps the modules that it has compiled, types stripped, for the processes of this run and of the next ones. Its keys contain
 * a hash of the source.
 */
const COMPILE_CACHE = join(tmpdir(), 'lombard-test-compile-cache');

const folder = fileURLToPath(new URL('.', import.meta.url));
const words = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && (words.length === 0 || words.some((word) => name.includes(word))))
  .sort();
if (names.length === 0) throw new Error(`no test file has one of these words in its path: ${words.join(' ')}`);

buildPages();
buildBundle();
const memory = memoryFolder();
if (memory !== undefined) process.env.TMPDIR ??= memory;
const groups = groupTests(folder, names);
const server = await openServer();
const child = spawn(
  process.execPath,
  [
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    '--test-timeout=180000',
    '--test-reporter=spec',
    ...groups.paths,
  ],
  {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, LOMBARD_TEST_SERVER: server.url },
  },
);
// Whoever ends this run ends its files too.
endWithTests(child);
const code = await new Promise<number>((resolve) => child.on('exit', (status) => resolve(status ?? 1)));
await server.stop();
groups.remove();
process.exit(code);

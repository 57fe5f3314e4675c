import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeWithTests } from './leftovers.ts';

/** The folders whose tests take longest. They start first, so that no core is idle at the end. */
const LONGEST = ['cli', 'pages', 'cells', 'mails', 'statements', 'deploy', 'webhooks', 'http'];

/**
 * Milliseconds for all tests of a file, and so for each of them. The runner's own limit would apply to the file as a whole. On a cluster,
 * every test of `cells/citus.test.ts` makes cells on workers, which takes most of a minute on a slow machine.
 */
const MAX_FILE_MS = process.env.LOMBARD_TEST_CELLS ? 1_200_000 : 300_000;

/** Milliseconds for a process to end after its last test. A failed test may have left a server open, and the run would never end. */
const MAX_END_MS = 60_000;
const END = `after(() => setTimeout(() => {
  console.error('still open after the last test:', process.getActiveResourcesInfo().join(' '));
  process.exit(1);
}, ${MAX_END_MS}).unref());`;

/** The test files that run in one process, one after the other. */
export interface TestGroups {
  /** One file per process, in starting order. */
  paths: string[];
  remove(): void;
}

/**
 * Groups the test files of a folder into one process: loading and compiling the service takes as long as the tests of many files. Each file
 * is a suite, which the runner prints with its duration. A file at the top level has its own process.
 * @param names paths below `folder`
 */
export function groupTests(folder: string, names: string[]): TestGroups {
  const groups = Map.groupBy(names, (name) => (dirname(name) === '.' ? name : dirname(name)));
  const rank = (key: string) => (LONGEST.includes(key) ? LONGEST.indexOf(key) : LONGEST.length);
  const keys = [...groups.keys()].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const made = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-test-groups-')));
  const paths = keys.map((key, index) => {
    const files = groups.get(key) ?? [];
    const suites = files.map((name) => {
      const load = `return import(${JSON.stringify(pathToFileURL(join(folder, name)).href)});`;
      const body = name === files.at(-1) ? `${END} ${load}` : load;
      return `describe(${JSON.stringify(name)}, { timeout: ${MAX_FILE_MS} }, () => { ${body} });\n`;
    });
    // The runner sorts its files by name.
    const path = join(made, `${String(index).padStart(2, '0')}-${key.replaceAll('/', '-')}.mjs`);
    writeFileSync(path, `import { after, describe } from 'node:test';\n${suites.join('')}`);
    return path;
  });
  return { paths, remove: () => rmSync(made, { recursive: true, force: true }) };
}

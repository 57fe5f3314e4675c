/**
 * `npm start`: the first line, and the time and processor time until it is ready, with an empty and with an existing data directory.
 * Checkouts run in turn, this one first. `npm run bench -- start [runs] [another checkout, after npm ci]`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, type Started, startProgram, stopProgram } from './footprint/program.ts';

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const RUNS = 6;

export async function run([runs, other]: string[]): Promise<void> {
  const checkouts = other === undefined ? [REPOSITORY] : [REPOSITORY, other];
  const found = new Map<string, Started[]>();
  for (let round = 0; round < Number(runs ?? RUNS); round += 1)
    for (const checkout of checkouts) {
      const dataDir = mkdtempSync(join(tmpdir(), 'lombard-bench-start-'));
      for (const which of ['first', 'later']) {
        const started = await startProgram(checkout, ['npm', 'start'], { LOMBARD_DATA_DIR: dataDir });
        await stopProgram(started);
        const name = `${checkout} | ${which}`;
        found.set(name, [...(found.get(name) ?? []), started]);
      }
      rmSync(dataDir, { recursive: true });
    }
  print('| checkout | start | first line s | ready s | CPU s of its process |\n|---|---|---|---|---|');
  for (const [name, starts] of found) {
    const of = (what: 'firstLine' | 'ready' | 'cpu') => median(starts.map((start) => start[what])).toFixed(2);
    print(`| ${name} | ${of('firstLine')} | ${of('ready')} | ${of('cpu')} |`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

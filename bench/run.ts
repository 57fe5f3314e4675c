/**
 * Runs a bench by its name: `npm run bench -- search`. docs/performance.md says what each measures and what it measured.
 * Child processes inherit Node's options from that script, which gives those of bin/lombard.
 */
import { readdirSync } from 'node:fs';

const folder = new URL('.', import.meta.url);
const [name = '', ...rest] = process.argv.slice(2);
const names = readdirSync(folder)
  .filter(
    (file) => file.endsWith('.ts') && file !== 'run.ts' && !file.endsWith('-data.ts') && !file.endsWith('-child.ts'),
  )
  .map((file) => file.slice(0, -3));
if (!names.includes(name)) {
  print(`npm run bench -- <name>: ${names.join(', ')}`);
  process.exit(1);
}
const bench = (await import(`./${name}.ts`)) as { run?: (args: string[]) => Promise<void> };
await bench.run?.(rest);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

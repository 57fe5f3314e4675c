/** Limits the lengths of files (lines) and of lines (characters), so that readers can follow. Biome limits functions. */
import { readdirSync, readFileSync } from 'node:fs';

const MAX_FILE_LINES = 350;
/** Biome breaks code at 120; this limit is for SQL, comments and texts. */
const MAX_LINE_CHARACTERS = 160;
/** Generated files. */
const GENERATED = /^(dist|data\/generated)\//;

const root = new URL('../', import.meta.url);
const faults: string[] = [];
for (const folder of ['src', 'bench', 'lint', 'migrations', 'pages']) {
  for (const name of readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(tsx?|css|sql)$/.test(name) || GENERATED.test(name)) continue;
    const path = `${folder}/${name}`;
    const lines = readFileSync(new URL(path, root), 'utf8').trimEnd().split('\n');
    for (const [index, line] of lines.entries()) {
      if (line.length > MAX_LINE_CHARACTERS)
        faults.push(`${path}:${index + 1}: ${line.length} characters; at most ${MAX_LINE_CHARACTERS}`);
    }
    if (name.endsWith('.sql')) continue;
    if (lines.length > MAX_FILE_LINES) faults.push(`${path}: ${lines.length} lines; at most ${MAX_FILE_LINES}`);
  }
}
for (const line of faults) process.stderr.write(`${line}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

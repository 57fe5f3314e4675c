/** `npm run check`: runs all static checks in parallel, and prints their output once all have ended. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHECKS = [
  ['biome', 'ci', '--error-on-warnings', '.'],
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '-p', 'pages'],
  ['knip', '--no-progress'],
  ['node', 'lint/imports.ts'],
  ['node', 'lint/lengths.ts'],
] as const;

/** Runs one check to its end. @returns whether it passed */
async function run([program, ...args]: (typeof CHECKS)[number]): Promise<{ passed: boolean; said: string }> {
  const child = spawn(program, args, {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const note = (chunk: string) => {
    said += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', note);
  child.stderr.setEncoding('utf8').on('data', note);
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (status, signal) => resolve(status ?? signal ?? 1));
  });
  return {
    passed: code === 0,
    said: code === 0 ? said : `${said}${[program, ...args].join(' ')} ended with ${code}\n`,
  };
}

const results = await Promise.all(CHECKS.map(run));
for (const { said } of results) process.stdout.write(said);
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1;

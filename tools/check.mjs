/**
 * Checks the API descriptions with integrators' tools: `node tools/check.mjs FOLDER`, where FOLDER has client.json, auth.json and
 * operator.json. Two linters must find nothing, and the output of three generators must compile strictly. The exit status is 1 if something
 * was found. docs/descriptions.md says how to get the documents.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const DOCUMENTS = ['client', 'auth', 'operator'];
const TIMEOUT_MS = 240_000;
const MAX_OUTPUT_BYTES = 2 ** 26;

const tools = fileURLToPath(new URL('.', import.meta.url));
const folder = resolve(process.argv[2] ?? '.');
const made = join(folder, 'made');
const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', DO_NOT_TRACK: '1', CI: '1' };

/** Runs a tool of this folder; returns its output, or throws with it. */
async function run(name, ...args) {
  const program = join(tools, 'node_modules/.bin', name);
  const options = { cwd: folder, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...quiet } };
  try {
    return (await promisify(execFile)(process.execPath, [program, ...args], options)).stdout;
  } catch (error) {
    throw new Error(`${name} ${args.join(' ')}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
  }
}

async function lint(name) {
  const file = join(folder, `${name}.json`);
  const report = await run('redocly', 'lint', file, '--extends=recommended', '--format=json');
  const { totals } = JSON.parse(report.slice(report.indexOf('{')));
  if (totals.errors + totals.warnings > 0) throw new Error(`redocly: ${name}\n${report}`);
  await run('spectral', 'lint', file, '--ruleset', join(tools, 'spectral.yaml'), '--fail-severity=hint');
}

async function generate(name) {
  const file = join(folder, `${name}.json`);
  await run('openapi-typescript', file, '--output', join(made, `${name}-types.ts`));
  await run('openapi-ts', '--input', file, '--output', join(made, `${name}-hey`), '--client', '@hey-api/client-fetch');
  const orval = join(made, `${name}-orval/client.ts`);
  await run('orval', '--input', file, '--output', orval, '--client', 'fetch', '--mode', 'split');
}

/** Compiles the generated code with every strict check on. */
async function compile() {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'Bundler',
    types: [],
  };
  const include = ['**/*.ts'];
  writeFileSync(join(made, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
  symlinkSync(join(tools, 'node_modules'), join(made, 'node_modules'));
  await run('tsc', '--project', made);
}

rmSync(made, { recursive: true, force: true });
mkdirSync(made);
try {
  for (const name of DOCUMENTS) {
    await lint(name);
    await generate(name);
  }
  await compile();
  process.stdout.write(`${DOCUMENTS.join(', ')}: no findings; three generators' clients compile\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

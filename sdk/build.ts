/** Writes dist/: the sources as ES modules and as CommonJS, each with its types. `npm pack` and `npm publish` run it. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url));
const compile = (...flags: string[]) => execFileSync(tsc, ['-p', folder, ...flags], { stdio: 'inherit' });

rmSync(`${folder}dist`, { recursive: true, force: true });
compile();
compile(
  '--module',
  'commonjs',
  '--moduleResolution',
  'bundler',
  '--outDir',
  `${folder}dist/cjs`,
  '--verbatimModuleSyntax',
  'false',
);
writeFileSync(`${folder}dist/cjs/package.json`, '{ "type": "commonjs" }\n');

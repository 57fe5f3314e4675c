import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { currentBundle } from '../../bin/current-bundle.mjs';
import { buildBundle } from '../world/bundle.ts';
import { REPOSITORY } from '../world/command.ts';

/** A small checkout with a program of its own, so that each bundle takes a moment. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'lombard bundle-')));
after(() => rmSync(folder, { recursive: true, force: true }));
const at = (path: string) => join(folder, path);
for (const name of ['bin', 'src/values', 'node_modules']) mkdirSync(at(name), { recursive: true });
for (const name of readdirSync(join(REPOSITORY, 'bin'))) copyFileSync(join(REPOSITORY, 'bin', name), at(`bin/${name}`));
symlinkSync(join(REPOSITORY, 'node_modules/rolldown'), at('node_modules/rolldown'));
writeFileSync(at('package.json'), '{ "type": "module" }');
mkdirSync(at('node_modules/other'));
writeFileSync(at('node_modules/other/package.json'), '{ "type": "module", "version": "1.0.0", "main": "index.js" }');
writeFileSync(at('node_modules/other/index.js'), 'export const said = 7;');

/** Says where V8 has its code from, where its own file and one beside it are, and how a stack names it. */
const MAIN = `import { readFileSync } from 'node:fs';
import { said as other } from 'other';
import { LIMIT } from './limit.ts';
interface Said { code: string; own: string; beside: string; stack: string }
const { prepareStackTrace } = Error;
Error.prepareStackTrace = (_, sites) => String(sites[0]?.getFileName());
const code = String(new Error().stack);
Error.prepareStackTrace = prepareStackTrace;
const { late } = await import('./values/late.ts');
const said: Said = {
  code, own: import.meta.url, beside: readFileSync(new URL('./beside.txt', import.meta.url), 'utf8'),
  stack: String(late(process.argv[2]).stack),
};
if (process.argv[2] === 'throw') throw late('thrown');
console.log(JSON.stringify({ ...said, other, LIMIT }));
`;
const LATE = `/** A type of its own takes lines that the bundle does not have. */
interface Fault {
  message: string;
}
export const late = (message = 'none'): Fault & Error => {
  return new TypeError(message);
};
`;
writeFileSync(at('src/main.ts'), MAIN);
writeFileSync(at('src/values/late.ts'), LATE);
writeFileSync(at('src/limit.ts'), 'export const LIMIT: number = 7;');
writeFileSync(at('src/beside.txt'), 'found');

const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };

function run(...args: string[]) {
  return spawnSync(at('bin/lombard'), args, { env, encoding: 'utf8' });
}

/** What the program says, and whether it ran as a bundle. */
function say(...args: string[]): { bundled: boolean; own: string; beside: string; stack: string } {
  const { stdout, stderr } = run(...args);
  assert.equal(stderr, '');
  const { code, ...said } = JSON.parse(stdout);
  const bundled = code.startsWith(pathToFileURL(at('node_modules/.cache/lombard/bundle/')).href);
  if (!bundled) assert.equal(code, pathToFileURL(at('src/main.ts')).href);
  return { bundled, ...said };
}

function bundle(): string[] {
  const { status, stderr } = spawnSync(process.execPath, [at('bin/bundle.ts')], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return readdirSync(at('node_modules/.cache/lombard/bundle'));
}

describe('a start', () => {
  test('runs the sources without a bundle, and the bundle once there is one', () => {
    assert.equal(say().bundled, false);
    bundle();
    const { bundled, own, beside, stack } = say('why');
    assert.deepEqual([bundled, own, beside], [true, pathToFileURL(at('src/main.ts')).href, 'found']);
    assert.match(stack, /^TypeError: why\n/);
    assert.deepEqual(
      [...stack.matchAll(/file:\S+?:\d+/g)].map(([position]) => position),
      [`${pathToFileURL(at('src/values/late.ts')).href}:6`, `${pathToFileURL(at('src/main.ts')).href}:12`],
    );
  });

  test('runs the sources where node_modules leads into another checkout', () => {
    const other = realpathSync(mkdtempSync(join(tmpdir(), 'lombard other-')));
    for (const name of ['bin', 'src', 'package.json'])
      cpSync(at(name), join(other, name), { recursive: true, preserveTimestamps: true });
    symlinkSync(at('node_modules'), join(other, 'node_modules'));
    const { stdout } = spawnSync(join(other, 'bin/lombard'), [], { env, encoding: 'utf8' });
    rmSync(other, { recursive: true });
    assert.equal(JSON.parse(stdout).code, pathToFileURL(join(other, 'src/main.ts')).href);
  });

  test('that fails names the source too', () => {
    const { status, stderr } = run('throw');
    assert.equal(status, 1);
    assert.ok(
      stderr.includes(`TypeError: thrown\n    at late (${pathToFileURL(at('src/values/late.ts')).href}:6:`),
      stderr,
    );
  });

  test('runs the sources after an edit, and the bundle again when the edit is taken back', () => {
    const path = at('src/values/late.ts');
    const { size } = statSync(path);
    writeFileSync(path, LATE.replace('none', 'some'));
    assert.equal(statSync(path).size, size);
    const edited = say();
    assert.deepEqual([edited.bundled, edited.stack.split('\n')[0]], [false, 'TypeError: some']);
    // A copy of a checkout may have any times.
    writeFileSync(path, LATE);
    utimesSync(path, 1, 1);
    assert.equal(say().bundled, true);
  });

  for (const path of ['src/limit.ts', 'package.json', 'bin/bundle.ts', 'node_modules/other/package.json'])
    test(`runs the sources after a change of ${path}`, () => {
      const before = readFileSync(at(path), 'utf8');
      writeFileSync(at(path), `${before}\n`);
      assert.equal(say().bundled, false);
      writeFileSync(at(path), before);
      assert.equal(say().bundled, true);
    });

  test('runs the sources where the bundle is damaged', () => {
    const path = at('node_modules/.cache/lombard/bundle.json');
    const text = readFileSync(path, 'utf8');
    for (const damaged of ['', text.slice(0, -9), '{}', text.replace(/main-/, 'gone-')]) {
      writeFileSync(path, damaged);
      assert.equal(say().bundled, false, damaged);
    }
    writeFileSync(path, text);
    assert.equal(say().bundled, true);
  });

  test('finds the parts of the bundle from which it started, after the next one was made', () => {
    const first = new Set(bundle());
    writeFileSync(at('src/main.ts'), `${MAIN}process.title = 'second';\n`);
    const second = new Set(bundle());
    assert.ok(second.size > first.size && [...first].every((name) => second.has(name)));
    writeFileSync(at('src/main.ts'), `${MAIN}process.title = 'third';\n`);
    const third = new Set(bundle());
    assert.ok(![...first].every((name) => third.has(name)));
    assert.equal(say().bundled, true);
  });
});

test('this checkout can be bundled', () => {
  buildBundle();
  assert.ok(currentBundle());
});

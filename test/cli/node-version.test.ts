import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { REPOSITORY } from '../world/command.ts';
import { endWithTests } from '../world/leftovers.ts';
import { until } from '../world/until.ts';

/** bin/lombard in a checkout without the Node that npm ci installs, on a machine that has what a test gives it. */

const folder = mkdtempSync(join(tmpdir(), 'lombard-node-'));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['bin', 'tools', 'node_modules/.bin']) mkdirSync(join(folder, name), { recursive: true });
for (const name of readdirSync(join(REPOSITORY, 'bin')))
  copyFileSync(join(REPOSITORY, 'bin', name), join(folder, 'bin', name));
symlinkSync(join(REPOSITORY, 'src'), join(folder, 'src'));
for (const tool of ['dirname', 'readlink'])
  symlinkSync(
    spawnSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim(),
    join(folder, 'tools', tool),
  );

let machines = 0;
/** A folder with a Node that says it is of this version and runs as the one of these tests does; `broken`: it does not run. */
function machine(version: string | 'broken'): string {
  machines += 1;
  const place = join(folder, `machine-${machines}`);
  mkdirSync(place);
  const script =
    version === 'broken'
      ? 'exit 127'
      : `[ "$1" = --version ] && echo ${version} && exit\nexec '${process.execPath}' "$@"`;
  writeFileSync(join(place, 'node'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(place, 'node'), 0o755);
  return place;
}

function run(path: string[], more: Record<string, string> = {}) {
  const env = { PATH: [...path, join(folder, 'tools')].join(':'), ...more };
  const { status, stdout, stderr } = spawnSync('/bin/sh', [join(folder, 'bin/lombard'), '--version'], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}

const { version: VERSION } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
const WORKS = { status: 0, stdout: VERSION, stderr: '' };
const NONE = 'lombard: no Node of 22.18 or newer was found: that of npm ci is missing or does not run on this machine';
const DO = 'Run npm ci without --omit=optional, or install Node 24 and put it into PATH';

test('without the Node of npm ci an installed one runs it, the first that can', () => {
  assert.deepEqual(run([machine('v20.20.2'), join(folder, 'absent'), machine('v23.5.0'), machine('v22.18.0')]), WORKS);
  assert.deepEqual(run([machine('v22.17.1'), machine('v23.6.0')]), WORKS);
  assert.deepEqual(run([machine('v100.0.0')]), WORKS);
});

test('else the one that runs npm', () => {
  assert.deepEqual(run([machine('v20.20.2')], { npm_node_execpath: join(machine('v24.1.0'), 'node') }), WORKS);
});

test('one that does not run on this machine counts as missing', () => {
  const bundled = join(folder, 'node_modules/.bin/node');
  symlinkSync(join(machine('broken'), 'node'), bundled);
  assert.deepEqual(run([machine('broken'), machine('v24.1.0')]), WORKS);
  assert.deepEqual(run([]), { status: 1, stdout: '', stderr: `${NONE}. ${DO}` });
  rmSync(bundled);
});

test('where there is none, one line says what was found and what to do', () => {
  const old = machine('v20.20.2');
  const says = { status: 1, stdout: '', stderr: `${NONE}; v20.20.2 of ${old}/node is too old. ${DO}` };
  assert.deepEqual(run([old, machine('v20.20.2')], { npm_node_execpath: join(old, 'node') }), says);
  assert.deepEqual(run([]), { status: 1, stdout: '', stderr: `${NONE}. ${DO}` });
});

test('npm start says what happens before Node has loaded anything, and Node keeps what it compiles', () => {
  const place = machine('v24.1.0');
  const says = `echo "$*" | /usr/bin/tr ' ' '\\n' | /usr/bin/tail -n 2; echo "$NODE_COMPILE_CACHE"`;
  writeFileSync(join(place, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo v24.1.0 && exit\n${says}\n`);
  const started = (args: string[], more: Record<string, string> = {}) => {
    const env = { PATH: `${place}:${join(folder, 'tools')}`, ...more };
    return spawnSync('/bin/sh', [join(folder, 'bin/lombard'), ...args], { env, encoding: 'utf8' }).stdout.split('\n');
  };
  const main = join(folder, 'bin/start.mjs');
  const cache = join(folder, 'node_modules/.cache/lombard');
  const [first, ...rest] = started(['demo'], { LOMBARD_DATA_DIR: join(folder, 'absent') });
  assert.match(first ?? '', /^Starting Lombard for the first time: /);
  assert.deepEqual(rest, [main, 'demo', cache, '']);
  const [later] = started(['demo', '--no-demo'], { DATABASE_URL: 'postgres://127.0.0.1/x' });
  assert.match(later ?? '', /^Starting Lombard: /);
  // What programs read begins with what the command itself says.
  assert.deepEqual(started(['serve'], { NODE_COMPILE_CACHE: '/elsewhere' }), [main, 'serve', '/elsewhere', '']);
  assert.deepEqual(started(['demo', '--help']), ['demo', '--help', cache, '']);
});

for (const shell of ['/bin/sh', '/bin/bash'])
  test(`Ctrl-C while it looks ends it (${shell})`, {
    skip: existsSync(shell) ? false : `there is no ${shell}`,
  }, async () => {
    const place = machine('v24.1.0');
    const [looks, goOn] = [join(place, 'looks'), join(place, 'go-on')];
    const wait = `: > '${looks}'; while [ ! -e '${goOn}' ]; do /bin/sleep 0.05; done; echo v24.1.0`;
    writeFileSync(join(place, 'node'), `#!/bin/sh\n[ "$1" = --version ] || exit 0\n${wait}\n`);
    const env = { PATH: `${place}:${join(folder, 'tools')}` };
    const child = endWithTests(spawn(shell, [join(folder, 'bin/lombard'), 'serve'], { env, stdio: 'ignore' }));
    const ended = once(child, 'exit');
    await until(() => existsSync(looks));
    child.kill('SIGINT');
    writeFileSync(goOn, '');
    assert.deepEqual(await ended, [130, null]);
  });

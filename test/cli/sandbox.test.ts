import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

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

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

async function lockOut() {
  const world = await createWorld(service);
  assert.ok(await world.signIn());
  for (let guess = 0; guess < 10; guess += 1) await assert.rejects(service.signIn(world.email, `wrong guess ${guess}`));
  await assert.rejects(world.signIn(), /429/);
  return world;
}

test('the institution lifts the lock of a contact that guessed too often', async () => {
  const world = await lockOut();
  const lock = async () => (await service.operator('GET', `/contacts/${world.contactId}/lock`)).body;
  const { password_locked_until: until, second_factor_locked_until: factor } = await lock();
  const left = Date.parse(until) - service.service.context.clock.now().getTime();
  assert.ok(left > 0 && left <= 900_000, until);
  assert.equal(factor, null);
  assert.equal((await service.operator('GET', '/contacts/nobody/lock')).body.code, 'contact_not_found');
  const { status, text } = await service.operator('POST', `/contacts/${world.contactId}/unlock`);
  assert.deepEqual(await lock(), { password_locked_until: null, second_factor_locked_until: null });
  assert.deepEqual([status, text], [204, '']);
  assert.ok(await world.signIn());
  assert.equal((await service.operator('POST', '/contacts/nobody/unlock')).body.code, 'contact_not_found');
});

test('a new password lifts the lock too', async () => {
  const world = await lockOut();
  const password = 'a new password of mine';
  assert.equal((await service.operator('PATCH', `/contacts/${world.contactId}`, { password })).status, 200);
  assert.ok(await service.signIn(world.email, password));
});

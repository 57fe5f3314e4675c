import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld, startTestService, type TestService } from './service.ts';
let service: TestService;
before(async () => { service = await startTestService(); });
after(() => service.stop());
test('signs in', async () => {
  const world = await createWorld(service);
  const token = await world.signIn();
  const answer = await service.client(token, 'GET', `/accounts/currency-accounts?client_id=${world.clientId}`);
  assert.equal(answer.status, 200, answer.text);
});

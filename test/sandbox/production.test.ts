import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { pageSession } from '../world/page-session.ts';
import { freePort } from '../world/ports.ts';
import { call, startTestService } from '../world/service.ts';
import { cookieOf } from '../world/visitor.ts';

const CALLS = [
  ['POST', '/sandbox/payments'],
  ['POST', '/sandbox/payments/PAY000001/advance'],
  ['POST', '/sandbox/trigger'],
  ['POST', '/sandbox/reset'],
  ['GET', '/sandbox/requests'],
] as const;

/** The public address is not the listener's in production, so the listener gets a port that the test knows. */
test('production has nothing under /sandbox: 404 with a token and without one, and no description', async () => {
  const port = await freePort();
  const service = await startTestService({
    LOMBARD_ENVIRONMENT: 'production',
    LOMBARD_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    LOMBARD_API_URL: 'https://api.example',
    LOMBARD_AUTH_URL: 'https://auth.example',
    SMTP_URL: 'smtp://127.0.0.1:9',
    DATABASE_URL: 'postgres://replaced',
    LOMBARD_ROLES: 'api,operator',
    LOMBARD_API_PORT: String(port),
  });
  try {
    const api = `http://127.0.0.1:${port}`;
    const { clientId, contactId } = await createWorld(service);
    const token = await accessToken(service, contactId);
    for (const [method, path] of CALLS) {
      for (const options of [{ token }, {}]) {
        const answer = await call(`${api}${path}?client_id=${clientId}`, method, options);
        assert.deepEqual([answer.status, answer.body.code], [404, 'not_found'], `${method} ${path}`);
      }
    }
    const misspelt = await call(`${api}/payments?client_id=${clientId}&stauts=pending`, 'GET', { token });
    assert.deepEqual([misspelt.status, misspelt.headers.get('x-ignored-parameters')], [200, null]);
    const session = (await pageSession(service, contactId)).cookies.get(cookieOf(service, 'app'));
    const headers = { cookie: `__Host-lombard-app=${session}` };
    for (const [path, status] of Object.entries({
      '/app/profile': 200,
      '/app/developers': 404,
      '/app/_components': 404,
    })) {
      const answer = await call(`${api}${path}`, 'GET', { headers });
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [status, 'text/html; charset=utf-8'], path);
    }
    const { text: reference } = await call(`${api}/docs/static/swagger-initializer.js`, 'GET');
    assert.ok(!reference.includes('lombard-docs'), 'the API reference signs nobody in');
    const described = await call(`${api}/openapi.json`, 'GET');
    assert.ok(!described.text.includes('sandbox/'));
  } finally {
    await service.stop();
  }
});

test('in the sandbox each of them asks for a token first', async () => {
  const service = await startTestService();
  try {
    for (const [method, path] of CALLS)
      assert.equal((await call(`${service.api}${path}?client_id=CLI000001`, method)).status, 401, `${method} ${path}`);
  } finally {
    await service.stop();
  }
});

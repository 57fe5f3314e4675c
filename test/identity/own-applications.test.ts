import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownRedirects } from '../../src/identity/applications/own-applications.ts';

const REFERENCE = '/docs/static/oauth2-redirect.html';

test('the API reference signs in at the own address of a sandbox, at its other names on the machine too, and nowhere else', () => {
  const sandbox = (apiUrl: string) => ownRedirects('lombard-docs', { apiUrl, environment: 'sandbox' });
  assert.deepEqual(sandbox('http://127.0.0.1:8080'), [
    `http://127.0.0.1:8080${REFERENCE}`,
    `http://localhost:8080${REFERENCE}`,
    `http://[::1]:8080${REFERENCE}`,
  ]);
  assert.deepEqual(sandbox('http://localhost/api'), [
    `http://localhost/api${REFERENCE}`,
    `http://127.0.0.1/api${REFERENCE}`,
    `http://[::1]/api${REFERENCE}`,
  ]);
  assert.deepEqual(sandbox('https://sandbox.example/api'), [`https://sandbox.example/api${REFERENCE}`]);
  assert.deepEqual(ownRedirects('lombard-docs', { apiUrl: 'http://127.0.0.1:8080', environment: 'production' }), []);
});

test("an institution's application keeps the addresses of its record", () => {
  assert.equal(ownRedirects('demo-app', { apiUrl: 'http://127.0.0.1:8080', environment: 'sandbox' }), undefined);
});

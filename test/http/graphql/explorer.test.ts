import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestService, type TestService } from '../../world/service.ts';

describe('the query explorer at the API root', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  test('a page without a token, from this host alone', async () => {
    const answer = await fetch(`${service.api}/`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      assert.ok(policy.includes(rule), rule);
    }
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
    const page = await answer.text();
    assert.doesNotMatch(page, /https?:\/\//);
    assert.doesNotMatch(page, /<script(?![^>]*src=)|\son\w+=/);
  });

  test('every file that the page names is served', async () => {
    const page = await (await fetch(`${service.api}/`)).text();
    const script = await (await fetch(`${service.api}/explorer/explorer.js`)).text();
    const files = [...`${page}${script}`.matchAll(/['"](\/explorer\/[\w./-]+\.(?:js|css))['"]/g)].map(
      (match) => match[1] as string,
    );
    assert.ok(files.length >= 4);
    for (const file of [
      ...files,
      '/explorer/ruru/graphqlWorker.js',
      '/explorer/ruru/jsonWorker.js',
      '/explorer/ruru/editorWorker.js',
    ]) {
      const answer = await fetch(`${service.api}${file}`);
      assert.equal(answer.status, 200, file);
      assert.ok((await answer.text()).length > 100, file);
    }
  });

  test('nothing else is: no other path of the package, none above it', async () => {
    for (const path of [
      '/explorer/ruru/',
      '/explorer/ruru/nothing.js',
      '/explorer/ruru/..%2f..%2fpackage.json',
      '/explorer/ruru/ruru.js.map',
      '/explorer/other.js',
      '/explorer/ruru/constructor',
    ]) {
      const answer = await fetch(`${service.api}${path}`);
      assert.equal(answer.status, 404, path);
      assert.equal(((await answer.json()) as { code: string }).code, 'not_found');
    }
  });

  test('what the browser has already is not sent again', async () => {
    const first = await fetch(`${service.api}/explorer/ruru/ruru.css`);
    const again = await fetch(`${service.api}/explorer/ruru/ruru.css`, {
      headers: { 'if-none-match': first.headers.get('etag') ?? '' },
    });
    assert.equal(again.status, 304);
  });
});

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from '../../world/service.ts';
import { authorizeUrl, createApplication, createPerson, PASSWORD, Visitor } from '../../world/visitor.ts';

let service: TestService;

before(async () => {
  service = await startTestService();
});
after(() => service.stop());

/** GET with a Host header of its own. */
function open(url: URL, host: string): Promise<{ status: number; location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host, accept: 'text/html' }, agent: false }, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode ?? 0, location: answer.headers.location });
    });
    asked.on('error', reject).end();
  });
}

test('the sign-in page opened at localhost goes to its own address, where its form and its cookie work', async () => {
  const application = await createApplication(service);
  const person = await createPerson(service);
  const page = new URL(authorizeUrl(service, application));
  const moved = await open(page, `localhost:${page.port}`);
  assert.equal(moved.status, 307);
  assert.equal(moved.location, page.href);
  const visitor = new Visitor();
  const shown = await visitor.get(moved.location ?? '');
  const answer = await visitor.submit(shown, { email: person.email, password: PASSWORD });
  assert.ok(answer.location?.searchParams.get('code'), answer.text);
});

test('a host that is not this machine, another port and programs are left alone', async () => {
  const application = await createApplication(service);
  const page = new URL(authorizeUrl(service, application));
  for (const host of ['evil.example', `evil.example:${page.port}`, 'localhost:1', 'localhost', page.host])
    assert.equal((await open(page, host)).status, 200, host);
  const discovery = new URL('/.well-known/openid-configuration', service.auth);
  assert.equal((await open(discovery, `localhost:${page.port}`)).status, 200);
});

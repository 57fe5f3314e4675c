import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { REPOSITORY } from '../world/command.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { createPerson, PASSWORD } from '../world/visitor.ts';

const CHROMIUM = '/usr/bin/chromium';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service.stop());

const get = (path: string, listener = service.api) => call(`${listener}${path}`, 'GET');
const names = readdirSync(join(REPOSITORY, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -3));

test('every page of docs is served, as HTML and as its Markdown, from this host alone', async () => {
  for (const name of names) {
    const page = await get(`/docs/${name}`);
    assert.equal(page.status, 200, name);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
    assert.doesNotMatch(page.text, /<(script|link|img)[^>]*(src|href)="https?:/);
    assert.doesNotMatch(page.text, /<script(?![^>]*src=)/);
    const markdown = await get(`/docs/${name}.md`);
    assert.match(markdown.headers.get('content-type') ?? '', /^text\/markdown/);
    // The page shows the addresses in use (test/cli/sample-application.test.ts).
    const placed = (text: string) => text.replace(/https?:\/\/127\.0\.0\.1:\d+/g, 'an address');
    assert.equal(placed(markdown.text), placed(readFileSync(join(REPOSITORY, 'docs', `${name}.md`), 'utf8')));
  }
  assert.equal((await get('/docs/nothing')).status, 404);
  assert.equal((await get('/docs/..%2fpackage.json')).status, 404);
});

test('a page that does not exist is a page to a browser, and a problem to a program, on both listeners', async () => {
  const accept = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  for (const listener of [service.api, service.operatorUrl])
    for (const path of ['/docs/nothing', '/docs/nothing.md', '/docs/no/where']) {
      const shown = await call(`${listener}${path}`, 'GET', { headers: accept });
      assert.equal(shown.status, 404, path);
      assert.match(shown.headers.get('content-type') ?? '', /^text\/html/, path);
      assert.match(shown.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
      assert.match(shown.text, /<title>This page does not exist - .*<h1>This page does not exist<\/h1>/s);
      assert.match(shown.text, /<a href="\/docs\/readme">/);
      const told = await get(path, listener);
      assert.equal(told.status, 404, path);
      assert.equal(told.body.code, 'not_found', path);
    }
});

test('every link between pages, with its anchor, leads somewhere', async () => {
  const pages = new Map<string, string>();
  for (const name of [...names, 'readme', 'sdk']) pages.set(name, (await get(`/docs/${name}`)).text);
  const broken: string[] = [];
  for (const [name, text] of pages)
    for (const [, target = '', anchor] of text.matchAll(/<a href="\/docs\/([\w-]+)(?:#([^"]*))?"/g)) {
      const linked = pages.get(target) ?? (await get(`/docs/${target}`)).text;
      pages.get(target) ?? pages.set(target, linked);
      if (!linked.includes('<main>') || (anchor && !linked.includes(` id="${anchor}"`)))
        broken.push(`${name}: /docs/${target}#${anchor ?? ''}`);
    }
  assert.deepEqual(broken, []);
});

test('llms.txt names every page by the address of its Markdown', async () => {
  const { text } = await get('/llms.txt');
  assert.match(text, /^# Lombard\n\n> /);
  for (const name of names) assert.ok(text.includes(`(${service.api}/docs/${name}.md)`), name);
  assert.equal((await get('/docs/llms.txt')).text, text);
  const [, summary = ''] = /^> (.*)$/m.exec(text) ?? [];
  assert.match(summary, /clients order, exchange, approve and follow payments .* book of record\.$/);
  assert.doesNotMatch(text, /:$/m, 'a summary ends in the middle');
});

test('a diagram is a picture on the site, and Mermaid in the Markdown', async () => {
  for (const name of ['payments', 'architecture', 'threat-model']) {
    const { text } = await get(`/docs/${name}`);
    assert.match(text, /<figure><svg [^>]*role="img"/, name);
    assert.doesNotMatch(text, /language-mermaid/, name);
    assert.match((await get(`/docs/${name}.md`)).text, /```mermaid/, name);
  }
});

test('the pictures of the pages are small, have a text, and are served', async () => {
  const shown = new Set<string>();
  for (const name of ['readme', 'pages'])
    for (const [, source = '', text = ''] of (await get(`/docs/${name}`)).text.matchAll(
      /<img src="([^"]*)" alt="([^"]*)"/g,
    )) {
      assert.notEqual(text, '', source);
      const picture = await get(source);
      assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp'], source);
      shown.add(source.replace('/docs/pictures/', ''));
    }
  const folder = join(REPOSITORY, 'docs', 'pictures');
  assert.deepEqual([...shown].sort(), readdirSync(folder).sort());
  for (const name of shown) assert.ok(statSync(join(folder, name)).size < 150_000, name);
  assert.equal((await get('/docs/pictures/..%2fpages.md')).status, 404);
});

test('the operator interface serves the same pages, those for the institution first, beside its own reference', async () => {
  const here = (path: string) => get(path, service.operatorUrl);
  for (const name of names) assert.equal((await here(`/docs/${name}`)).status, 200, name);
  const { text } = await here('/docs/runbook');
  assert.match(
    text,
    /<nav id="pages" aria-label="Pages"><h2>To run it for an institution<\/h2>.*operator-interface.*threat-model.*<h2>/,
  );
  assert.match(text, /<a href="\/docs">API reference<\/a>/);
  assert.doesNotMatch(text, /GraphQL<\/a>\s*<form/, 'its listener has no explorer');
  assert.match(
    (await get('/docs/runbook')).text,
    /<nav id="pages" aria-label="Pages"><h2>To integrate a program<\/h2>/,
  );
  assert.ok((await here('/docs/search.json')).body.some(({ page }: { page: string }) => page === 'runbook'));
  assert.match(
    (await here('/llms.txt')).text,
    /\(\/openapi.json\): the operator interface\n[\s\S]*\(\/docs\/runbook\.md\)/,
  );
  assert.match((await here('/docs')).text, /own\.js/);
  assert.equal((await here('/docs/nothing')).status, 404);
});

test('the collection has a request for each operation of the description, with the example of its body', async () => {
  const { body: document } = await get('/openapi.json');
  const { body: collection } = await get('/docs/collection.json');
  assert.match(collection.info.schema, /v2\.1\.0/);
  // biome-ignore lint/suspicious/noExplicitAny: a document of another standard
  const requests: any[] = collection.item.flatMap((folder: any) => folder.item);
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const operations = Object.values<any>(document.paths).flatMap((item) => Object.values<any>(item));
  assert.deepEqual(requests.map(({ name }) => name).sort(), operations.map(({ operationId }) => operationId).sort());
  const statement = requests.find(({ name }) => name === 'requestStatement').request;
  assert.equal(statement.url.raw, '{{baseUrl}}/statements/accounts?client_id={{clientId}}');
  assert.ok(JSON.parse(statement.body.raw).date_from);
});

describe('in a browser', { skip: existsSync(CHROMIUM) ? false : 'needs Chromium (apt-get install chromium)' }, () => {
  let browser: Browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  });
  after(() => browser?.close());

  test('a reader searches, and goes from the API reference to a page', async () => {
    const page = await browser.newPage();
    const faults: string[] = [];
    // How to sign in: the reference asks the authorization server.
    const discovery = `${service.auth}/.well-known/openid-configuration`;
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      if (![service.api, discovery, service.operatorUrl, 'data:'].some((own) => request.url().startsWith(own)))
        faults.push(request.url());
    });
    for (const [listener, path] of [
      [service.api, '/payments'],
      [service.operatorUrl, '/clients'],
    ] as const) {
      await page.goto(`${listener}/docs`);
      await page.getByText(path, { exact: true }).first().waitFor();
      await page.getByPlaceholder('Search the documentation').fill('signature');
      await page.keyboard.press('Enter');
      const first = page.locator('#results a').first();
      await first.waitFor();
      await first.click();
      await page.waitForURL(/\/docs\/[\w-]+#/);
      assert.match((await page.locator('main').textContent()) ?? '', /signature/i);
    }
    assert.deepEqual(faults, []);
  });

  test('the reference signs a person in, and its calls answer, under each name of this machine', async () => {
    const person = await createPerson(service);
    const { port } = new URL(service.api);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`http://${host}/docs`);
      await page.locator('.btn.authorize').click();
      const way = page.locator('.auth-container', { hasText: 'authorization_code with PKCE' });
      const opened = context.waitForEvent('page');
      await way.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
      const signIn = await opened;
      await signIn.locator('input[name=email]').fill(person.email);
      await signIn.locator('input[name=password]').fill(PASSWORD);
      const closed = signIn.waitForEvent('close');
      await signIn.keyboard.press('Enter');
      await closed;
      await way.getByRole('button', { name: 'Remove authorization' }).waitFor();
      await page.locator('.dialog-ux .close-modal').click();
      const operation = page.locator('#operations-payments-searchPayments');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('tr[data-param-name=client_id] input').fill(person.clientId);
      await operation.getByRole('button', { name: 'Execute' }).click();
      const status = operation.locator('.live-responses-table .response .response-col_status');
      assert.match((await status.textContent()) ?? '', /^200/, host);
      assert.match(
        (await operation.locator('.request-url').textContent()) ?? '',
        new RegExp(`http://${host}/payments`),
      );
      await context.close();
    }
    const { body } = await service.operator('GET', '/applications?page_size=200');
    assert.ok(!body.some(({ client_id: id }: { client_id: string }) => id === 'lombard-docs'), 'it is in no list');
  });

  test('a task is shown in one language at a time, without a script too; with one the choice is kept', async () => {
    for (const javaScriptEnabled of [false, true]) {
      const page = await browser.newPage({ javaScriptEnabled });
      const shown = (at: number) => page.locator('.tabs').nth(at).locator('pre:visible code').getAttribute('class');
      await page.goto(`${service.api}/docs/search`);
      assert.equal(await shown(0), 'language-sh');
      await page.locator('.tabs').first().getByText('Python', { exact: true }).click();
      assert.equal(await shown(0), 'language-python');
      assert.equal(await shown(1), javaScriptEnabled ? 'language-python' : 'language-sh');
      await page.goto(`${service.api}/docs/documents`);
      assert.equal(await shown(0), javaScriptEnabled ? 'language-python' : 'language-sh');
      // By the keyboard: radio buttons.
      await page.locator('.tabs input:checked').first().focus();
      await page.keyboard.press('ArrowLeft');
      assert.equal(await shown(0), javaScriptEnabled ? 'language-js' : 'language-python');
      await page.close();
    }
  });
});

test('the reference shows the description with the ways to sign in', async () => {
  for (const listener of [service.api, service.operatorUrl]) {
    const [shown, described] = await Promise.all(['/docs/json', '/openapi.json'].map((path) => get(path, listener)));
    assert.deepEqual(shown?.body, described?.body);
    assert.ok(Object.keys(shown?.body.components.securitySchemes).length > 0, listener);
  }
});

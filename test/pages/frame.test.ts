import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { institutionLogo } from '../../src/http/page/institution-assets.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  signInTo,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { createPerson, PASSWORD } from '../world/visitor.ts';

/** What is around all pages of a client: how they are served, the frame, and the client of the address. */

/** Bytes of script that the first page may transfer. */
const MAX_SCRIPT_BYTES = 204_800;

const STORED = 'JSON.stringify(localStorage) + JSON.stringify(sessionStorage)';

/** Without a size of its own, as drawing programs save it. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20"><rect width="80" height="20" fill="#c00"/></svg>';

let folder: string;
let service: TestService;
let browser: TestBrowser;
before(async () => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), 'lombard-logo-'));
  const logo = join(folder, 'logo.svg');
  writeFileSync(logo, LOGO);
  // A colour that is readable neither as text nor behind white text.
  service = await startTestService({ LOMBARD_INSTITUTION_LOGO: logo, LOMBARD_INSTITUTION_COLOUR: '#ffe600' });
  browser = await startBrowser();
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a page is drawn after the sign-in, with its client in the address, and leaves no trace of others', {
  skip,
}, async () => {
  const person = await createPerson(service, { name: 'Ada <script>alert(1)</script>' });
  const page = await browser.open();
  const logoWidth = () =>
    page
      .getByRole('banner')
      .getByRole('img', { name: 'Lombard Sandbox' })
      .evaluate(async (element) => {
        const img = element as unknown as { decode(): Promise<void>; clientWidth: number };
        await img.decode();
        return img.clientWidth;
      });
  await page.goto(`${service.api}/app`);
  assert.ok((await logoWidth()) > 50, 'on the sign-in page');
  await page.getByText('to continue to Lombard Sandbox', { exact: true }).waitFor();
  await signInTo(page, service, person);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForURL(`${service.api}/app?client_id=${person.clientId}`);
  assert.match(await page.title(), / - Lombard Sandbox$/);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    assert.ok((await logoWidth()) > 50, `at ${width} px`);
  }
  await page.getByRole('link', { name: 'Profile' }).click();
  await page.waitForURL(`${service.api}/app/profile?client_id=${person.clientId}`);
  await page.getByText('Ada <script>alert(1)</script>').first().waitFor();
  await assertWellFormed(page);
  await assertAccessible(page);
  await page.reload();
  await page.getByText('Ada <script>alert(1)</script>').first().waitFor();
  assert.equal(await page.evaluate(STORED), '{}{}');
  assertQuiet(page);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.locator('[name=password]').waitFor();
  await page.goBack();
  await page.locator('[name=password]').waitFor();
  await page.context().close();
});

test('a logo is shown as what it is, whatever its file is called', { skip }, () => {
  const { config } = service.service.context;
  const logoOf = (name: string, content: string) => {
    const logo = join(folder, name);
    writeFileSync(logo, content, 'latin1');
    return institutionLogo({ ...config, institution: { ...config.institution, logo } });
  };
  for (const name of ['emblem', 'LOGO.PNG', 'logo.svg'])
    assert.equal(logoOf(name, '\x89PNG\r\n\x1a\n')?.type, 'image/png', name);
  assert.equal(logoOf('logo.png', LOGO)?.type, 'image/svg+xml');
  assert.match(logoOf('emblem', LOGO)?.name ?? '', /^logo-[0-9a-f]{16}\.svg$/);
  assert.throws(() => logoOf('logo.png', 'GIF89a'), /neither SVG nor PNG/);
});

test('a page whose file does not come says so, and is tried again', { skip }, async () => {
  const page = await browser.open();
  await signInTo(page, service, await createPerson(service));
  await page.context().route('**/assets/developers-*.js', (route) => route.abort('internetdisconnected'));
  await page.getByRole('link', { name: 'Developers', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor();
  await assertAccessible(page);
  await page.context().unrouteAll();
  await page.getByRole('button', { name: 'Try again', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Developers' }).waitFor();
  assert.equal(await page.evaluate(STORED), '{}{}');
  await page.context().close();
});

test('assets: hashed names, compressed, kept for a year; a page is never kept', { skip }, async () => {
  const person = await createPerson(service);
  const page = await browser.open();
  const seen = new Map<string, Record<string, string>>();
  page.on('response', (response) => seen.set(new URL(response.url()).pathname, response.headers()));
  await signInTo(page, service, person);
  const assets = [...seen].filter(([path]) => /^\/app\/assets\/.*\.(js|css)$/.test(path));
  assert.ok(assets.length > 3);
  for (const [path, headers] of assets) {
    assert.match(path, /-[\w-]{8}\.(js|css)$/);
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable', path);
    assert.doesNotMatch(headers['content-security-policy'] ?? '', /unsafe/, path);
  }
  assert.ok(
    assets.some(([, headers]) => headers['content-encoding'] === 'br' || headers['content-encoding'] === 'gzip'),
  );
  const scripts = assets.filter(([path]) => path.endsWith('.js'));
  const bytes = scripts.reduce((sum, [, headers]) => sum + Number(headers['content-length']), 0);
  assert.ok(bytes > 0 && bytes <= MAX_SCRIPT_BYTES, `the first page takes ${bytes} bytes of script`);
  assert.equal(seen.get('/app')?.['cache-control'], 'no-store');
  assert.match(seen.get('/app')?.['content-security-policy'] ?? '', /frame-ancestors 'none'/);
  assert.doesNotMatch(seen.get('/app')?.['content-security-policy'] ?? '', /unsafe/);
  const icon = await page.locator('link[rel=icon]').getAttribute('href');
  const drawing = await fetch(service.api + icon);
  assert.equal(drawing.status, 200);
  assert.doesNotMatch(drawing.headers.get('content-security-policy') ?? 'unsafe', /unsafe/);
  const none = await fetch(`${service.api}/app/assets/none-12345678.js`);
  assert.equal(none.status, 404);
  await page.context().close();
});

test('an idle time below two minutes: the dialog asks at half of it, and Escape stays', { skip }, async () => {
  const brief = await startTestService({ LOMBARD_APP_IDLE: '90s' });
  const page = await browser.open();
  try {
    const person = await createPerson(brief, { name: 'Mary Somerville' });
    await signInTo(page, brief, person, '/app/profile');
    const dialog = page.getByRole('dialog');
    const asked = () => page.waitForResponse((response) => response.url().endsWith('/app/session') && response.ok());
    await brief.operator('PUT', '/clock', { advance_seconds: 35 });
    await asked();
    await asked();
    assert.equal(await dialog.count(), 0, 'in the first half');
    await brief.operator('PUT', '/clock', { advance_seconds: 15 });
    await dialog.waitFor();
    const told = page.waitForResponse((response) => response.url().endsWith('/app/session/activity'));
    await page.keyboard.press('Escape');
    assert.equal((await told).status(), 204);
    await dialog.waitFor({ state: 'hidden' });
  } finally {
    await page.context().close();
    await brief.stop();
  }
});

test('a minute before the end a dialog asks; at the end all data is gone, and signing in leads back', {
  skip,
}, async () => {
  const person = await createPerson(service, { name: 'Grace Hopper' });
  const page = await browser.open();
  await signInTo(page, service, person, '/app/profile');
  const stay = page.getByRole('dialog').getByRole('button', { name: 'Stay signed in', exact: true });
  await service.operator('PUT', '/clock', { advance_seconds: 14 * 60 + 15 });
  await stay.waitFor();
  await assertAccessible(page);
  await stay.click();
  await stay.waitFor({ state: 'hidden' });
  await service.operator('PUT', '/clock', { advance_seconds: 10 * 60 });
  const told = page.waitForResponse((response) => response.url().endsWith('/app/session/activity'));
  await page.keyboard.press('Shift');
  assert.equal((await told).status(), 204);
  await service.operator('PUT', '/clock', { advance_seconds: 10 * 60 });
  await page.waitForResponse((response) => response.url().endsWith('/app/session') && response.ok());
  const before = page.url();
  await service.operator('PUT', '/clock', { advance_seconds: 15 * 60 });
  await page.getByText('You were signed out after 15 minutes without activity').waitFor();
  assert.doesNotMatch(await page.content(), /Grace Hopper|Acme/);
  await assertAccessible(page);
  assertQuiet(page);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.locator('[name=email]').fill(person.email);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(before);
  await page.getByText('Grace Hopper').first().waitFor();
  await service.operator('DELETE', '/clock');
  await page.context().close();
});

test('a lost connection is said, and mended', { skip }, async () => {
  const person = await createPerson(service);
  const page = await browser.open();
  await signInTo(page, service, person, '/app/profile');
  await page.context().setOffline(true);
  await page.getByText('The connection is lost. Trying again.').waitFor();
  await page.context().setOffline(false);
  await page.getByText('The connection is back.').waitFor();
  await page.context().close();
});

test('the page of all components holds in both themes and at every width', { skip }, async () => {
  const person = await createPerson(service);
  const page = await browser.open();
  await signInTo(page, service, person, '/app/_components');
  await page.getByRole('heading', { name: 'Components', level: 1 }).waitFor();
  for (const width of [390, 1280, 1920, 2560]) await assertWellFormed(page, width);
  await assertAccessible(page);
  await page.getByText('KWD\u00a012,345,678,901,234,567.891').waitFor();
  await page.getByText('ACME[U+202E]DTL\u240a<b>Ltd</b>').waitFor();
  await page.getByText('No lag in the last 6 hours').waitFor();
  await page.getByRole('img', { name: 'BarChart' }).hover();
  await page.getByText('18 delivered').waitFor();
  await page.mouse.move(0, 0);
  await page.getByText('18 delivered').waitFor({ state: 'detached' });
  const row = page.getByRole('table', { name: 'SteadyTable' }).getByRole('row').filter({ hasText: 'PAY000001' });
  await page.getByRole('button', { name: 'A row leaves' }).click();
  await row.getByText('gone').waitFor();
  await page.getByLabel('Held').uncheck();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Dialog' }).click();
  await page.getByRole('dialog', { name: 'Dialog' }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Escape');
  await page.locator(':focus', { hasText: 'Dialog' }).waitFor();
  assertQuiet(page);
  await page.context().close();
});

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { listening } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import {
  authorizeUrl,
  createApplication,
  createPerson,
  exchange,
  later,
  PASSWORD,
  type TestApplication,
} from '../world/visitor.ts';

/** A real browser goes through the pages, by keyboard, with each second factor. */

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
const skip = CHROMIUM === undefined ? 'no Chromium on this machine' : false;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

let service: TestService;
let application: TestApplication;
let app: Server;
let callback: string;
let profile: string;
let browser: BrowserContext;

before(async () => {
  if (skip) return;
  service = await startTestService();
  // The application answers where the sign-in leads to; another origin than the authorization server's.
  app = createServer((_request, response) => response.end('<!doctype html><title>back</title>back'));
  callback = `http://localhost:${await listening(app)}/callback`;
  application = await createApplication(service, { name: 'Treasury <Desk>', redirect_uris: [callback] });
  profile = mkdtempSync(join(tmpdir(), 'lombard-chromium-'));
  browser = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM as string,
    headless: true,
    args: FLAGS,
    locale: 'en-GB',
  });
});
after(async () => {
  if (skip) return;
  await browser.close();
  app.closeAllConnections();
  app.close();
  await service.stop();
  rmSync(profile, { recursive: true, force: true });
});

async function open(): Promise<Page> {
  await browser.clearCookies();
  const page = await browser.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4/.test(message.text()))
      assert.fail(`the browser complains: ${message.text()}`);
  });
  await page.goto(authorizeUrl(service, application, { redirect_uri: callback, state: 'från början' }));
  return page;
}

/** A browser focuses the field that asks for it when it first draws the page, which may be after the page has loaded. */
async function focused(page: Page, label: string): Promise<void> {
  await page.getByLabel(label).and(page.locator(':focus')).waitFor();
}

/** By keyboard alone: the fields are focused in the order in which they are needed. */
async function typePassword(page: Page, email: string, password = PASSWORD): Promise<void> {
  await focused(page, 'Email');
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(password);
  await page.keyboard.press('Enter');
}

async function arrived(page: Page): Promise<void> {
  await page.waitForURL(`${callback}**`);
  const { searchParams } = new URL(page.url());
  assert.equal(searchParams.get('state'), 'från början');
  assert.equal(searchParams.get('iss'), service.auth);
  const tokens = await exchange(service, application, searchParams.get('code') ?? '', { redirect_uri: callback });
  assert.equal(tokens.status, 200, tokens.text);
  await page.close();
}

test('password only, after a wrong one', { skip }, async () => {
  const person = await createPerson(service);
  const page = await open();
  assert.equal(await page.title(), 'Sign in - Lombard Sandbox');
  assert.equal(await page.getByText('Treasury <Desk>').count(), 1);
  await typePassword(page, person.email, 'not my password');
  await page.getByRole('alert').waitFor();
  assert.equal(await page.getByLabel('Email').inputValue(), person.email);
  await focused(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await arrived(page);
});

test('an authenticator', { skip }, async () => {
  const person = await createPerson(service, { second_factor: 'totp' });
  const page = await open();
  await typePassword(page, person.email);
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await focused(page, 'Verification code');
  await page.keyboard.type('000000');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await focused(page, 'Verification code');
  await page.keyboard.type(new TOTP({ secret: Secret.fromBase32(person.totp ?? '') }).generate());
  await page.keyboard.press('Enter');
  await arrived(page);
});

test('a text message, sent once more', { skip }, async () => {
  const phone = '+441632960111';
  const person = await createPerson(service, { second_factor: 'sms', phone });
  const page = await open();
  await typePassword(page, person.email);
  await page.getByRole('button', { name: 'Send a new code' }).click();
  await page.getByRole('alert').filter({ hasText: '30 seconds' }).waitFor();
  await later(service, 31, async () => {
    await page.getByRole('button', { name: 'Send a new code' }).click();
    await page.getByRole('status').waitFor();
    const { rows } = await service.query(
      'select text from text_messages where recipient = $1 order by id desc limit 1',
      [phone],
    );
    await page.getByLabel('Verification code').fill(/\b\d{6}\b/.exec(rows[0].text)?.[0] ?? '');
    await page.getByRole('button', { name: 'Continue' }).click();
    await arrived(page);
  });
});

test('back and forth: a page that is posted twice still works', { skip }, async () => {
  const person = await createPerson(service);
  const page = await open();
  await typePassword(page, person.email);
  await page.waitForURL(`${callback}**`);
  await page.goBack();
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await arrived(page);
});

test('nothing needs script, nothing is loaded from elsewhere, and everything fits a small screen', {
  skip,
}, async () => {
  const page = await browser.newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.setViewportSize({ width: 320, height: 640 });
  for (const address of [
    authorizeUrl(service, application, { redirect_uri: callback }),
    `${service.auth}/end-session`,
    `${service.auth}/authenticate?client_id=x`,
  ]) {
    await page.goto(address);
    const width = await page.locator('html').evaluate((html) => html.scrollWidth);
    assert.ok(width <= 320, `${address} is ${width} wide`);
    assert.equal(await page.locator('script').count(), 0);
    assert.equal(await page.locator('h1').count(), 1);
    const unlabelled = await page
      .locator('input:not([type=hidden])')
      .evaluateAll(
        (fields) =>
          fields.filter((field) => (field as unknown as { labels: ArrayLike<object> }).labels.length === 0).length,
      );
    assert.equal(unlabelled, 0);
  }
  assert.ok(
    requested.every((url) => url.startsWith(service.auth) && !url.endsWith('/favicon.ico')),
    requested.join(),
  );
  await page.close();
});

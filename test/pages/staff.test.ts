import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { createWorld } from '../world/client.ts';
import { focusOn, tabTo } from '../world/keyboard.ts';
import { OpenIdProvider } from '../world/openid-provider.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The institution's staff with a provider of its own: the sign-in, a call that support answers, and the ways out. */

let provider: OpenIdProvider;
let service: TestService;
let browser: TestBrowser;
before(async () => {
  if (skip) return;
  provider = await new OpenIdProvider().start();
  service = await startTestService({ ...provider.settings, LOMBARD_ROLES: 'auth,operator' });
  browser = await startBrowser();
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
  await provider.stop();
});

test('"I cannot sign in": support finds the contact, sees the lock and lifts it, by keyboard alone', {
  skip,
}, async () => {
  const world = await createWorld(service);
  for (let guess = 0; guess < 11; guess += 1) await assert.rejects(service.signIn(world.email, `wrong guess ${guess}`));
  const page = await browser.open({ reducedMotion: 'reduce' });
  await page.goto(`${service.operatorUrl}/console`);
  await page.getByText('Ada Support').waitFor();
  await tabTo(page, 'Search');
  await page.keyboard.type(world.email);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: world.contactId }).waitFor();
  await tabTo(page, world.contactId);
  await page.keyboard.press('Enter');
  const locked = page.getByRole('status').getByText('it was guessed wrong too often');
  await locked.waitFor();
  await assertAccessible(page);
  await assertWellFormed(page);
  await tabTo(page, 'Unlock');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Unlock' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await focusOn(page, 'Unlock');
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await tabTo(page, 'Reason');
  await page.keyboard.type('Called us');
  await assertWellFormed(page);
  await tabTo(page, 'Unlock');
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Unlock: done').waitFor();
  await focusOn(page, 'Unlock');
  await locked.waitFor({ state: 'detached' });
  assert.ok(await world.signIn());
  const { actor, reason } = (
    await service.operator('GET', `/audit?entity=contact&entity_id=${world.contactId}&order=desc`)
  ).body[0];
  assert.deepEqual([actor, reason], ['staff:Ada Support', 'Called us']);
  assertQuiet(page);
  await page.context().close();
});

test('idle for 15 minutes: a warning, then nothing is left; signing in leads back; out here and at the provider', {
  skip,
}, async () => {
  const world = await createWorld(service, 'Secret & Sons');
  const page = await browser.open();
  const place = `${service.operatorUrl}/console/clients/${world.clientId}`;
  await page.goto(place);
  await page.getByText('Secret & Sons').first().waitFor();
  const stay = page.getByRole('button', { name: 'Stay signed in' });
  await service.operator('PUT', '/clock', { advance_seconds: 14 * 60 + 15 });
  await stay.waitFor();
  await assertAccessible(page);
  await stay.click();
  await stay.waitFor({ state: 'hidden' });
  await service.operator('PUT', '/clock', { advance_seconds: 15 * 60 });
  await page.getByText('You were signed out after 15 minutes without activity').waitFor();
  assert.doesNotMatch(await page.content(), /Secret & Sons|Secret &amp; Sons/);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.waitForURL(place);
  await page.getByText('Secret & Sons').first().waitFor();
  await service.operator('DELETE', '/clock');

  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await assertWellFormed(page);
  await page.getByRole('link', { name: 'Sign out at your institution too' }).click();
  await page.getByText('You are signed out at your institution too.').waitFor();
  assert.deepEqual(Object.fromEntries(provider.signedOut ?? []), {
    client_id: provider.clientId,
    post_logout_redirect_uri: `${service.operatorUrl}/console/signed-out`,
    state: 'done',
  });
  await assertAccessible(page);
  assertQuiet(page);
  await page.context().close();
});

test('who has no role at the institution is told so, in a page', { skip }, async () => {
  provider.person = { sub: 'eve', name: 'Eve', groups: ['everybody'] };
  const page = await browser.open();
  await page.goto(`${service.operatorUrl}/console`);
  await page.getByRole('alert').getByText('Your account has no role here').waitFor();
  await assertWellFormed(page);
  await assertAccessible(page);
  await page.context().close();
});

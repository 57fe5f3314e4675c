import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
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

/** /app/profile: what a person decides for itself, as the person does it. */

let service: TestService;
let browser: TestBrowser;
before(async () => {
  if (skip) return;
  service = await startTestService();
  browser = await startBrowser();
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
});

async function openProfile(person: { email: string }): Promise<Page> {
  const page = await browser.open();
  await signInTo(page, service, person, '/app/profile');
  await page.getByRole('heading', { name: 'Profile', level: 1 }).waitFor();
  return page;
}

/** Signs in and gives a code, as the second step asks. */
async function signInWithCode(page: Page, email: string, code: string): Promise<void> {
  await page.goto(`${service.api}/app/profile`);
  await page.locator('[name=email]').fill(email);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('[name=verification_code]').fill(code);
  await page.keyboard.press('Enter');
}

test('an authenticator: QR code, first code, recovery codes, each of which signs in once', { skip }, async () => {
  const person = await createPerson(service);
  const page = await openProfile(person);
  await page.getByRole('button', { name: 'Set up authenticator' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const secret = (await page.getByRole('dialog').locator('code').innerText()).replaceAll(' ', '');
  await page.getByLabel('Verification code').fill('000000');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('This is not the code that the app shows now').waitFor();
  await assertAccessible(page);
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  await page.getByLabel('Verification code').fill(totp.generate());
  await page.getByRole('button', { name: 'Confirm' }).click();
  const list = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await list.first().waitFor();
  const codes = await list.allInnerTexts();
  assert.equal(codes.length, 10);
  await assertAccessible(page);
  await page.getByRole('button', { name: 'I have noted them' }).click();
  await page.getByRole('status').getByText('Your authenticator is set up').waitFor();
  await page.getByText('10 left').waitFor();
  await page.locator(':focus', { hasText: 'Set up authenticator' }).waitFor();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.locator('[name=password]').waitFor();

  const [code = ''] = codes;
  await signInWithCode(page, person.email, code);
  await page.getByText('9 left').waitFor();
  const trail = await service.operator('GET', `/audit?entity=contact&entity_id=${person.contactId}&order=desc`);
  const { actor, after } = trail.body[0];
  assert.deepEqual([actor, after], [`contact:${person.contactId}`, { recovery_code_used: true, recovery_codes: 9 }]);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.locator('[name=password]').waitFor();
  await signInWithCode(page, person.email, code);
  await page.getByRole('alert').waitFor();
  assertQuiet(page);
  await page.context().close();

  const contact = await service.operator('GET', `/contacts/${person.contactId}`);
  assert.equal(contact.body.second_factor, 'totp');
  const reset = await service.operator('PATCH', `/contacts/${person.contactId}`, { second_factor: 'none' });
  assert.equal(reset.status, 200, reset.text);
  const { rows } = await service.query('select from recovery_codes where contact_id = $1', [person.contactId]);
  assert.equal(rows.length, 0, 'they end with the authenticator');
});

test('sessions end one by one; a new password and `Sign out everywhere` end all others', { skip }, async () => {
  const person = await createPerson(service);
  const page = await openProfile(person);
  const other = await openProfile(person);
  await page.reload();
  const table = page.getByRole('table', { name: 'Sessions' });
  await table.getByText('This session').waitFor();
  assert.equal(await table.getByRole('button', { name: 'End session', exact: true }).count(), 1);
  await assertWellFormed(page);
  await assertAccessible(page);
  await table.getByRole('button', { name: 'End session' }).click();
  await page.getByRole('status').getByText('The session is ended').waitFor();
  await other.getByText('The session was ended here or from another device.').waitFor();

  await page.getByRole('button', { name: 'Change password' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change password' });
  await dialog.getByLabel('Current password').fill('not my password');
  await dialog.getByLabel('New password').fill('a wholly new password');
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await dialog.getByText('The password is wrong.').waitFor();
  await dialog.getByLabel('Current password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('status').getByText('Your password is changed').waitFor();

  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.locator(':focus', { hasText: 'Sign out everywhere' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.locator('[name=password]').waitFor();
  for (const each of [page, other]) await each.context().close();
});

test('language and mails', { skip }, async () => {
  const person = await createPerson(service);
  const page = await openProfile(person);
  await page.waitForURL(`${service.api}/app/profile?client_id=${person.clientId}`);
  await page.getByLabel('Mail me when a payment waits for me').uncheck();
  await page.getByRole('status').getByText('Saved').waitFor();
  await page.getByRole('region', { name: 'Language and mails' }).getByLabel('Language').selectOption('fr');
  await page.getByRole('heading', { name: 'Profil', level: 1, exact: true }).waitFor();
  assert.equal(await page.locator('html').getAttribute('lang'), 'fr');
  const contact = await service.operator('GET', `/contacts/${person.contactId}`);
  assert.deepEqual([contact.body.language, contact.body.approval_mails], ['fr', false]);
  assertQuiet(page);
  await page.context().close();
});

test('who signed in a while ago gives the password again before the authenticator changes', { skip }, async () => {
  const person = await createPerson(service);
  const page = await openProfile(person);
  await service.operator('PUT', '/clock', { advance_seconds: 11 * 60 });
  await page.getByRole('button', { name: 'Set up authenticator' }).click();
  await page.getByLabel('Current password').fill('not my password');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('The password is wrong.').waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  await service.operator('DELETE', '/clock');
  await page.context().close();
});

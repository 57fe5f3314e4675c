import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The institution's pages in a browser: what support finds, what it does, and what it may not. */

const REFERENCE = 'Rechnung <b>4711</b> \u202eevil';
const ANSWER = '<script>document.title = "stolen"</script>';

let service: TestService;
let browser: TestBrowser;
let world: Awaited<ReturnType<typeof createWorld>>;
let payment: string;
let contactId: string;
let email: string;
let notification: string;
let subscription: string;
let page: Page;

before(async () => {
  if (skip) return;
  service = await startTestService({ LOMBARD_ROLES: 'operator' });
  browser = await startBrowser();
  world = await createWorld(service, 'Ashdown & Söhne');
  ({ contactId, email } = await world.hire('Ida Holt', { second_factor: 'sms', phone: '+441632960001' }));
  payment = (await world.pay({ reference: REFERENCE })).body.payment_id;
  await deliver();
  page = await browser.open();
  await signIn(page, service.operatorToken);
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
});

/** A notification of the payment that its receiver refused, with script in the answer. */
async function deliver(): Promise<void> {
  const { rows } = await service.query(
    `with s as (insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
       values ($1, $2, 'http://127.0.0.1:9/hook', true, '{PAYMENT_STATUS_CHANGE}', now(), now()) returning id),
     e as (insert into webhook_events (client_id, type, payment_id, body, created_at)
       values ($1, 'PAYMENT_STATUS_CHANGE', $3, '{"payment":1}', date_trunc('milliseconds', now())) returning *),
     n as (insert into notifications (id, client_id, subscription_id, event_id, type, status, created_at, attempts_count, finished_at)
       select notification_id(e.id, s.id, e.created_at), e.client_id, s.id, e.id, e.type, 'failed', e.created_at, 1, now() from e, s returning *),
     a as (insert into attempts (client_id, subscription_id, notification_id, created_at, delivery_id, attempt_number, started_at, duration_ms, status_code, body)
       select client_id, subscription_id, id, created_at, gen_random_uuid(), 1, now(), 12, 500, $4 from n)
     select id, subscription_id from n`,
    [world.clientId, contactId, payment, ANSWER],
  );
  [{ id: notification, subscription_id: subscription }] = rows;
}

async function signIn(at: Page, token: string): Promise<void> {
  await at.goto(`${service.operatorUrl}/console`);
  await at.getByLabel('Operator token').fill(token);
  await at.keyboard.press('Enter');
  await at.getByRole('button', { name: 'Sign out' }).waitFor();
}

const open = (path: string, at = page) => at.goto(`${service.operatorUrl}/console${path}`);
const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });

/** Does an act with a reason, and waits until the page says that it is done. */
async function act(name: string, reason: string): Promise<void> {
  await button(name).click();
  const dialog = page.getByRole('dialog', { name });
  await dialog.getByLabel('Reason').fill(reason);
  await button(name, dialog).click();
  await dialog.waitFor({ state: 'hidden' });
  await page
    .getByRole('status')
    .getByText(/done|queued/)
    .waitFor();
}

const lastAudit = async (entity: string, id: string) =>
  (await service.operator('GET', `/audit?entity=${entity}&entity_id=${id}&order=desc&page_size=1`)).body[0];

test('what cannot be asked does not hide the rest of what needs attention', { skip }, async () => {
  await page.route('**/console/api/imports?*', (route) =>
    route.fulfill({ status: 502, json: { code: 'integration_error', message: 'Try again.', details: '' } }),
  );
  await open('');
  const part = page.getByRole('region', { name: 'Needs attention' });
  await part.getByRole('link', { name: '1 notification failed' }).waitFor();
  await part.getByText('Not known at present: imports that broke off').waitFor();
  await assertAccessible(page);
  await page.unroute('**/console/api/imports?*');
  await part.getByRole('button', { name: 'Try again' }).click();
  await part.getByText('Not known at present').waitFor({ state: 'detached' });
});

test('the timeline names a contact who has acted, where an approval tells its name', { skip }, async () => {
  const approvals = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
  const approving = await createWorld(service, 'Approved Ltd', approvals);
  const { contactId: approver } = await approving.hire('Edith Moss');
  const { body } = await approving.pay();
  await service.operator('POST', `/payments/${body.payment_id}/actions`, { action: 'authorise', contact_id: approver });
  // The client API, where the contact would act, does not run here.
  await service.query(
    `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
     values (now(), 'contact:' || $1::text, 'by itself', 'action', 'payment', $2, $3, '{"action": "validate"}')`,
    [approver, body.payment_id, approving.clientId],
  );
  await open(`/payments/${body.payment_id}`);
  const link = page.getByRole('table', { name: 'Timeline' }).getByRole('link', { name: 'Edith Moss', exact: true });
  assert.equal(await link.getAttribute('href'), `/console/contacts/${approver}`);
  assert.equal(await link.getAttribute('title'), approver);
});

describe('the console', { skip }, () => {
  test('one field finds a payment; its page tells everything that happened, and acts with a reason', async () => {
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill(REFERENCE);
    await search.press('Enter');
    await page.waitForURL(`${service.operatorUrl}/console/search`);
    const row = page.getByRole('table', { name: 'Results' }).getByRole('row').filter({ hasText: payment });
    await row.getByText('Rechnung <b>4711</b> [U+202E]evil').waitFor();
    await row.getByRole('link', { name: payment }).click();
    await page.getByRole('heading', { level: 1, name: `Payment ${payment}` }).waitFor();
    const timeline = page.getByRole('table', { name: 'Timeline' });
    await timeline.getByText('Notification PAYMENT_STATUS_CHANGE').waitFor();
    await timeline.getByText('Attempt 1').waitFor();
    await assertAccessible(page);

    await button('Cancel').click();
    const dialog = page.getByRole('dialog', { name: 'Cancel' });
    await dialog.getByText('Müller GmbH').waitFor();
    await button('Cancel', dialog).click();
    await dialog.getByText('Say why, in 1 to 500 characters.').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.locator('button:focus', { hasText: 'Cancel' }).waitFor();
    await act('Cancel', 'asked by phone — Übermut');
    await page.getByText('Payment cancelled').first().waitFor();
    await timeline.getByRole('cell', { name: 'Cancelled', exact: true }).waitFor();
    await page.locator('[role=status]:focus', { hasText: 'done' }).waitFor();
    const { reason, actor } = await lastAudit('payment', payment);
    assert.deepEqual([reason, actor], ['asked by phone — Übermut', 'operator:configured']);
  });

  test('a contact is found by email, which stands in no address; unlocked, disabled, without a second factor', async () => {
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill(email.toUpperCase());
    await search.press('Enter');
    await page.getByRole('link', { name: contactId }).click();
    await page.getByRole('heading', { level: 1, name: `Contact ${contactId}` }).waitFor();
    assert.ok(!page.url().includes('@'));
    await page.getByRole('heading', { name: 'Sign-ins' }).waitFor();
    await act('Unlock', 'called us');
    assert.equal((await lastAudit('contact', contactId)).reason, 'called us');
    await act('Reset second factor', 'lost phone');
    await act('Disable', 'left the firm');
    await button('Enable').waitFor();
    const contact = (await service.operator('GET', `/contacts/${contactId}`)).body;
    assert.deepEqual([contact.status, contact.second_factor], ['disabled', 'none']);
    assert.equal((await lastAudit('contact', contactId)).reason, 'left the firm');
  });

  test('notifications are live; a refused one is sent again, and what its receiver answered is only text', async () => {
    await open('/notifications');
    const row = page.getByRole('table', { name: 'Notifications' }).getByRole('row').filter({ hasText: notification });
    await row.getByText('failed').waitFor();
    await row.getByText('1', { exact: true }).click();
    await row.getByText('Answer').click();
    await row.getByText(ANSWER).waitFor();
    assert.equal(await page.title(), 'Notifications - Lombard Sandbox');
    await act('Redeliver', 'receiver is back');
    await row.getByText('pending').waitFor();
    assert.equal((await lastAudit('notification', notification)).reason, 'receiver is back');
    await service.query("update notifications set status = 'delivered' where id = $1", [notification]);
    await row.getByText('delivered').waitFor();

    await open(`/subscriptions?client_id=${world.clientId}`);
    await button('Replay').click();
    const dialog = page.getByRole('dialog', { name: 'Replay' });
    await dialog.getByLabel('Reason').fill('lost a day');
    await button('Replay', dialog).click();
    await page.getByRole('status').getByText('1 notification queued').waitFor();
    assert.equal((await lastAudit('subscription', subscription)).reason, 'lost a day');
  });

  test('the trail is shown newest first, and verified', async () => {
    await open('/audit');
    await page.getByRole('row').filter({ hasText: 'lost a day' }).waitFor();
    await button('Verify').click();
    await page
      .getByRole('status')
      .getByText(/The trail is whole: \d+ rows proved\./)
      .waitFor();
  });

  test('tokens are made, shown once and revoked', async () => {
    await open('/tokens');
    await button('Create token').click();
    const dialog = page.getByRole('dialog', { name: 'Create token' });
    await dialog.getByLabel('Name').fill('desk');
    await dialog.getByLabel('Role').selectOption('support');
    await dialog.getByLabel('Reason').fill('new colleague');
    await button('Create token', dialog).click();
    const token = (await page.locator('main code').first().textContent()) ?? '';
    assert.equal((await service.operator('GET', '/clients', undefined, { token })).status, 200);

    const other = await browser.open();
    await signIn(other, token);
    await open(`/contacts/${contactId}`, other);
    await button('Unlock', other).waitFor();
    for (const name of ['Enable', 'Disable', 'Reset second factor']) assert.equal(await button(name, other).count(), 0);
    for (const name of ['Operator tokens', 'Audit trail'])
      assert.equal(await other.getByRole('link', { name }).count(), 0);
    await open('/audit', other);
    await other.getByText('You may not see this').waitFor();
    assertQuiet(other);

    const row = page.getByRole('row').filter({ hasText: 'desk' });
    await button('Revoke', row).click();
    const revoke = page.getByRole('dialog', { name: 'Revoke' });
    await revoke.getByLabel('Reason').fill('left');
    await button('Revoke', revoke).click();
    await row.waitFor({ state: 'detached' });
    await other.getByRole('link', { name: 'Sign in' }).waitFor();
    await other.context().close();
  });

  test('deliveries follow what happens, and move nothing under the pointer', async () => {
    await open('/notifications');
    const first = page.getByRole('link', { name: notification, exact: true });
    await first.hover();
    const place = await first.boundingBox();
    const before = notification;
    await deliver();
    const added = page.getByRole('link', { name: notification, exact: true });
    await added.waitFor();
    assert.deepEqual(await first.boundingBox(), place, `${before} keeps its place`);
    await page.mouse.move(5, 5);
    await page.getByRole('row').nth(1).filter({ has: added }).waitFor();
  });

  test('every page is accessible in both themes, fits 390 pixels, and complains of nothing', async () => {
    const ids = [`/payments/${payment}`, `/clients/${world.clientId}`, `/contacts/${contactId}`];
    const lists = ['/notifications', '/subscriptions', '/statements', '/imports', '/changes', '/requests', '/audit'];
    for (const path of ['', '/search', ...ids, ...lists, '/tokens', '/system']) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('.loading').first().waitFor({ state: 'detached' });
      await assertWellFormed(page);
      await assertAccessible(page);
    }
    assertQuiet(page);
    for (const path of ['/none', '/payments/NOPE', '/clients/NOPE']) assert.equal((await open(path))?.status(), 404);
  });

  test('it speaks the language that was chosen, and keeps nothing else in the browser', async () => {
    await open('/requests');
    await page.getByLabel('Language').selectOption('de');
    await page.getByRole('heading', { level: 1, name: 'Abgelehnte Anfragen' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    assert.equal(await page.evaluate('JSON.stringify(localStorage)'), '{"lombard.language":"de"}');
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
    await assertAccessible(page);
    await page.goBack();
    await page.getByLabel('Operator token').waitFor();
    await assertAccessible(page);
    await page.getByLabel('Operator token').fill('not-a-token-of-anybody');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('This is not a valid operator token.').waitFor();
    await assertWellFormed(page);
    await assertAccessible(page);
  });
});

test('links that stand close to each other are large enough to be hit', { skip }, async () => {
  await service.query(
    `insert into refused_requests (at, listener, method, route, status, code, details, client_id, contact_id, application, request_id)
     select now() - i * interval '1 second', 'client', 'GET', '/payments', 404, 'payment_not_found', 'path.id: does not exist', $1, $2, 'app', 'r' || i
     from generate_series(1, 3) i`,
    [world.clientId, contactId],
  );
  const own = await browser.open();
  await signIn(own, service.operatorToken);
  for (const [path, id] of [
    ['/requests', contactId],
    [`/clients/${world.clientId}`, contactId],
    [`/contacts/${contactId}`, world.clientId],
  ] as const) {
    await open(path, own);
    await own.getByRole('link', { name: id }).first().waitFor();
    await assertAccessible(own);
    const heights = await own
      .locator('main')
      .getByRole('link', { name: id })
      .evaluateAll((links) => links.map((link) => (link as unknown as { offsetHeight: number }).offsetHeight));
    assert.ok(heights.length > 0 && heights.every((height) => height >= 24), `${path}: ${heights}`);
  }
  await own.context().close();
});

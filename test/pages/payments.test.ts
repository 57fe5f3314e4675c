import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import { approvalsWorld } from '../world/approvals.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { Firefox, skipFirefox } from '../world/firefox.ts';
import { focusOn, tabTo } from '../world/keyboard.ts';
import { pageSession } from '../world/page-session.ts';
import { button, choice, paymentPages, row } from '../world/payment-pages.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { cookieOf, PASSWORD } from '../world/visitor.ts';

/** Payments and approvals, as approvers, creators and finance staff use them. */

const PHONE = '+442079460001';
const SCRIPT = '<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>';

let service: TestService;
let browser: TestBrowser | undefined;
before(async () => {
  if (skip && skipFirefox) return;
  service = await startTestService();
  if (!skip) browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const { open, go, codeAfter } = paymentPages(() => ({ service, browser }));

const mailOf = (email: string) =>
  until(
    async (): Promise<{ subject: string; text: string } | undefined> => {
      const { body } = await service.operator('GET', '/mailbox');
      return body.find(({ to }: { to: string }) => to === email);
    },
    { what: `a mail to ${email}` },
  );

describe('the story of a payment', { skip }, () => {
  test('the approver opens the link of the mail on a phone, signs in, and approves with a code', async () => {
    const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes', approval_step_up: true });
    const fields = { language: 'de', second_factor: 'sms', phone: PHONE, password: PASSWORD };
    const anna = await world.hire('Anna', undefined, fields);
    const id = await world.create('1234567890123.45', { reference: SCRIPT });
    const mail = await mailOf(anna.email);
    assert.match(mail.subject, /1\.234\.567\.890\.123,45/);
    const link = mail.text.match(/https?:\S+\/app\/payments\/\S+/)?.[0] as string;
    assert.equal(link, `${service.api}/app/payments/${id}?client_id=${world.clientId}`);

    const page = await (browser as TestBrowser).open({ viewport: { width: 390, height: 844 }, locale: 'de-DE' });
    await page.goto(link);
    await page.locator('[name=email]').fill(anna.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('[name=verification_code]').waitFor();
    const signedInWith = await codeAfter();
    await page.locator('[name=verification_code]').fill(signedInWith);
    await page.keyboard.press('Enter');
    await page.waitForURL(link);
    await page.getByText('1.234.567.890.123,45').first().waitFor();
    await page.getByText('Müller GmbH').first().waitFor();
    await page.getByText('DE89').first().waitFor();
    await page.getByText('Erste Zahlung an diesen Empfänger').first().waitFor();
    await button(page, 'Freigeben').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Bestätigungscode').fill('000000');
    await dialog.getByRole('button', { name: 'Zahlung freigeben' }).click();
    await dialog.getByText('Der Code ist falsch oder schon benutzt').waitFor();
    await assertAccessible(page);
    await assertWellFormed(page);
    assert.ok(await dialog.getByText('1.234.567.890.123,45').isVisible(), 'the amount stays in sight');
    assert.ok(await dialog.getByText('DE89').isVisible(), 'and the account');
    await dialog.getByLabel('Bestätigungscode').fill(await codeAfter(signedInWith));
    await page.keyboard.press('Enter');
    await page.getByText('Freigegeben. Die Zahlung läuft weiter.').waitFor();
    await focusOn(page, 'Freigegeben.');
    assert.equal((await world.payment(id, anna)).status, 'Validating beneficiary information');
    assert.equal(await button(page, 'Freigeben').count(), 0);
    assertQuiet(page);
    await page.context().close();
  });

  test('the second approves several at once; one fails, because the third was faster', async () => {
    const world = await approvalsWorld(service, ['Bea', 'Carl'], { authorisation_workflow: '4-eyes' });
    const [bea, carl] = [world.person('Bea'), world.person('Carl')];
    const ids = [
      await world.create('100.10'),
      await world.create('200.20'),
      await world.create('7', { payment_currency: 'JPY' }),
    ];
    const page = await open(bea, world, '/approvals');
    const third = await open(carl, world, '/approvals');
    const [, second] = ids as [string, string];
    const creator = await open(world.owner, world, `/payments/${second}`);
    for (const id of ids) await choice(page, id).check();
    await button(page, 'Approve selected').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('EUR 300.30').waitFor();
    await dialog.getByText('JPY 7').waitFor();
    await dialog.getByText('Müller GmbH').waitFor();
    await dialog.getByText('DE89').waitFor();
    await assertAccessible(page);
    await assertWellFormed(page);
    await world.ask(carl, 'PATCH', `/payments/${second}`, { reason: 'No invoice' }, '&action=reject');
    await dialog.getByRole('button', { name: 'Approve 3 payments', exact: true }).click();
    const result = page.getByRole('status').filter({ hasText: '2 approved, 1 failed' });
    await result.waitFor();
    assert.match(await result.innerText(), new RegExp(`${second}: Rejected by \\W?Carl`));
    assert.match(await result.innerText(), /No invoice/);
    await focusOn(page, '2 approved, 1 failed');
    await creator.getByText('No invoice').first().waitFor();

    await third.getByText('Nothing waits for you').waitFor();
    const lately = third.getByRole('region', { name: 'Recently decided' });
    await lately
      .getByText(/approved by/)
      .first()
      .waitFor();
    assert.match(await lately.innerText(), /Bea/);
    await go(third, world, `/payments/${ids[0]}`);
    await third
      .getByText(/Approved by/)
      .first()
      .waitFor();
    for (const name of ['Approve', 'Reject']) assert.equal(await button(third, name).count(), 0);
    await go(page, world, '/approvals?tab=done');
    await row(page, ids[0] as string)
      .getByText('Approved', { exact: true })
      .waitFor();
    for (const each of [page, third, creator]) {
      assertQuiet(each);
      await each.context().close();
    }
  });
});

describe('deciding about a payment', { skip }, () => {
  test('by keyboard only; rejecting needs a reason; the focus returns', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const [id, next] = [await world.create('10.50'), await world.create('11')];
    const page = await open(world.person('Ann'), world, '/approvals');
    await page.getByRole('link', { name: id, exact: true }).focus();
    await page.keyboard.press('Enter');
    await button(page, 'Reject').waitFor();
    await button(page, 'Reject').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focusOn(page, 'Reject');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Reject payment', exact: true }).press('Enter');
    await dialog.getByText('Say why you reject it').waitFor();
    await page.locator('[name=reason]:focus').waitFor();
    await page.keyboard.type('Twice');
    await page.keyboard.press('Tab');
    await focusOn(page, 'Back');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Rejected. The creator is told.').waitFor();
    assert.equal((await world.payment(id)).reason, 'Twice');
    await focusOn(page, 'Rejected. The creator is told.');
    await tabTo(page, `Next: ${next}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: `Payment ${next}` }).waitFor();
    assertQuiet(page);
    await page.context().close();
  });

  test('what somebody else did meanwhile is said in the open dialog; the creator cancels', async () => {
    const world = await approvalsWorld(service, ['Ann', 'Bob'], { authorisation_workflow: '4-eyes' });
    const [id, other] = [await world.create('10.50'), await world.create('11')];
    const page = await open(world.person('Ann'), world, `/payments/${id}`);
    await button(page, 'Approve').click();
    await world.ask(world.person('Bob'), 'PATCH', `/payments/${id}`, { reason: 'Wrong account' }, '&action=reject');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').filter({ hasText: 'Wrong account' }).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Approve payment', exact: true }).isDisabled());
    await dialog.getByRole('button', { name: 'Back', exact: true }).click();
    const creator = await open(world.owner, world, `/payments/${other}`);
    assert.equal(await button(creator, 'Approve').count(), 0);
    await button(creator, 'Cancel').click();
    await creator.getByRole('dialog').getByRole('button', { name: 'Cancel payment', exact: true }).click();
    await creator.getByText(/^Cancelled\. Go/).waitFor();
    for (const each of [page, creator]) {
      assertQuiet(each);
      await each.context().close();
    }
  });

  test('a dialog left open approves nothing for whoever signs in in another tab', async () => {
    const world = await approvalsWorld(service, ['Ann', 'Bob'], { authorisation_workflow: '4-eyes' });
    const id = await world.create('10.50');
    const page = await open(world.person('Ann'), world, `/payments/${id}`);
    await button(page, 'Approve').click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const { cookies } = await pageSession(service, world.person('Bob').id);
    await page
      .context()
      .addCookies([
        { name: cookieOf(service, 'app'), value: cookies.get(cookieOf(service, 'app')) as string, url: service.api },
      ]);
    // The page may have noticed before the press.
    await dialog
      .getByRole('button', { name: 'Approve payment', exact: true })
      .click({ timeout: 2_000 })
      .catch(() => {});
    await page.getByText('Somebody else has signed in in this browser. What this page showed was removed.').waitFor();
    assert.equal((await world.payment(id)).status, 'Payment pending of authorization');
    assert.doesNotMatch(await page.content(), /Müller|DE89/);
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Go on as that person' }).click();
    await page.getByText('Bob', { exact: true }).first().waitFor();
    await page.context().close();
  });

  test('whoever loses the permission while the page is open is told so', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const ann = world.person('Ann');
    const id = await world.create('10.50');
    const page = await open(ann, world, `/payments/${id}`);
    await button(page, 'Approve').click();
    await service.operator('PATCH', `/contacts/${ann.id}`, {
      clients: [{ client_id: world.clientId, permissions: ['can_manage_webhooks'] }],
    });
    await page.getByRole('dialog').getByRole('alert').waitFor();
    assert.equal((await world.payment(id)).status, 'Payment pending of authorization');
    await page.context().close();
  });
});

test('by keyboard alone, with an authenticator: from the sign-in to the approval and out again', {
  skip,
}, async () => {
  const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes', approval_step_up: true });
  const ann = await world.hire('Ann', undefined, { password: PASSWORD });
  const { body } = await service.operator('PATCH', `/contacts/${ann.id}`, { second_factor: 'totp' });
  const totp = new TOTP({ secret: Secret.fromBase32(body.totp.secret) });
  const code = () => totp.generate({ timestamp: service.service.context.clock.now().getTime() });
  const id = await world.create('10.50');
  const page = await (browser as TestBrowser).open({ reducedMotion: 'reduce' });
  await page.goto(`${service.api}/app/approvals?client_id=${world.clientId}`);
  await tabTo(page, 'Email');
  await page.keyboard.type(ann.email);
  await tabTo(page, 'Password');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('[name=verification_code]').waitFor();
  await tabTo(page, 'Verification code');
  const signedInWith = code();
  await page.keyboard.type(signedInWith);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: id, exact: true }).waitFor();
  await tabTo(page, id);
  await page.keyboard.press('Enter');
  await button(page, 'Approve').waitFor();
  await tabTo(page, 'Approve');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Verification code').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await focusOn(page, 'Approve');
  await page.keyboard.press('Enter');
  const field = page.locator('[name=verification_code]:focus');
  await field.waitFor();
  await page.keyboard.type(signedInWith);
  await page.keyboard.press('Enter');
  await dialog.getByText('The code is wrong, or was used before').waitFor();
  await assertAccessible(page);
  await service.operator('PUT', '/clock', { advance_seconds: 30 });
  await field.waitFor();
  await page.keyboard.type(code());
  await tabTo(page, 'Approve payment');
  await page.keyboard.press('Enter');
  await page.getByText('Approved. The payment goes on.').waitFor();
  await focusOn(page, 'Approved.');
  assert.equal((await world.payment(id, ann)).status, 'Validating beneficiary information');
  await tabTo(page, 'Sign out');
  await page.keyboard.press('Enter');
  await page.locator('[name=password]').waitFor();
  await service.operator('DELETE', '/clock');
  assertQuiet(page);
  await page.context().close();
});

test('Ctrl K leads to pages, payments and payees, by keyboard, and back to where one was', { skip }, async () => {
  const world = await approvalsWorld(service, []);
  const id = await world.create('1234.50', { reference: 'Rent' });
  const page = await open(world.owner, world, '/profile');
  const field = page.getByRole('combobox', { name: 'Go to' });
  const finds = page.getByRole('option');
  await button(page, 'Go to').press('Enter');
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  await focusOn(page, 'Go to');
  await page.keyboard.press('Control+k');
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.type('acc');
  await finds.filter({ hasText: 'Accounts' }).waitFor();
  await assertAccessible(page);
  await assertWellFormed(page);
  await field.fill('1.234,50');
  await finds.filter({ hasText: id }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: `Payment ${id}`, exact: true }).waitFor();
  await page.keyboard.press('Meta+k');
  await field.fill('müll');
  await finds.filter({ hasText: 'Müller GmbH' }).waitFor();
  await field.fill(id);
  await page.keyboard.press('Enter');
  await field.waitFor({ state: 'detached' });
  assert.match(page.url(), new RegExp(`/payments/${id}\\?`), 'Enter never takes what was found for another text');
  await page.keyboard.press('Meta+k');
  await field.fill('müll');
  await finds.filter({ hasText: 'Müller GmbH' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/payments\?.*beneficiary_id=/);
  await page.getByText('1 payment', { exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await field.fill('nothing of that name');
  await page.getByText('Nothing has this name.').waitFor();
  await assertAccessible(page);
  assertQuiet(page);
  await page.context().close();
});

test('every page is well formed and accessible, from 390 to 2,560 px, whatever others have written', {
  skip,
}, async () => {
  const world = await approvalsWorld(service, ['Ann', SCRIPT], {
    authorisation_workflow: '6-eyes',
    client_name: SCRIPT,
  });
  const payee = `${SCRIPT} ${'W'.repeat(80)}`;
  await service.operator('PATCH', `/beneficiaries/${world.beneficiaryId}`, { beneficiary_name: payee });
  const id = await world.create('123456789012345678.12', { reference: 'x'.repeat(140), charges: SCRIPT });
  await world.ask(world.person(SCRIPT), 'PATCH', `/payments/${id}`, { reason: SCRIPT }, '&action=authorise');
  const page = await open(world.person('Ann'), world, '');
  for (const path of [
    '',
    '/payments',
    `/payments/${id}`,
    '/approvals',
    '/approvals?tab=others',
    '/approvals?tab=done',
  ]) {
    await go(page, world, path);
    await page.waitForLoadState('networkidle').catch(() => {});
    await assertWellFormed(page);
    await assertAccessible(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await go(page, world, '/approvals');
  const place = await row(page, id).locator('label').boundingBox();
  assert.ok(place && place.width >= 44 && place.height >= 44, 'a thumb hits the checkbox');
  await choice(page, id).check();
  await page.setViewportSize({ width: 1280, height: 844 });
  await until(() => page.evaluate(`document.querySelector('th:nth-child(4)').getBoundingClientRect().width > 150`));
  await page.setViewportSize({ width: 390, height: 844 });
  await assertAccessible(page);
  await go(page, world, `/payments/${id}`);
  await page.getByText('123,456,789,012,345,678.12').first().waitFor();
  await page.getByText('[U+202E]').first().waitFor();
  await button(page, 'Preview: Payment instruction').click();
  await page.locator('iframe[title="Payment instruction"]').waitFor();
  assertQuiet(page);
  await page.context().close();
});

test('Firefox: the sign-in, an approval, and the list', { skip: skipFirefox }, async () => {
  const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes' });
  const ann = await world.hire('Ann', undefined, { password: PASSWORD });
  const [id, other] = [await world.create('1234.50'), await world.create('2')];
  const firefox = await Firefox.start();
  try {
    await firefox.open(`${service.api}/app/payments/${id}?client_id=${world.clientId}`);
    await firefox.fill('[name=email]', ann.email);
    await firefox.fill('[name=password]', PASSWORD);
    await firefox.enter();
    await firefox.until(`location.pathname === '/app/payments/${id}' && document.querySelector('h1')`);
    await firefox.press('Approve');
    await firefox.until(`document.querySelector('[role=dialog]')?.textContent.includes('1,234.50')`);
    await firefox.press('Approve payment');
    await firefox.until(
      `[...document.querySelectorAll('[role=status]')].some((each) => each.textContent.startsWith('Approved.'))`,
    );
    assert.equal((await world.payment(id, ann)).status, 'Validating beneficiary information');
    await firefox.open(`${service.api}/app/approvals?client_id=${world.clientId}`);
    await firefox.until(`document.querySelector('[aria-label="Select ${other}"]')`);
    assert.equal(await firefox.evaluate(`document.querySelectorAll('[aria-label^="Select PAY"]').length`), 1);
  } finally {
    await firefox.close();
  }
});

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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
import { createExchange, FX_OPEN, moveClock } from '../world/exchange.ts';
import { tabTo } from '../world/keyboard.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { PASSWORD } from '../world/visitor.ts';

/** Payments that are ordered on the pages. */

const WAIT_MS = 30_000;

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

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const field = (page: Page, name: string, nth = 0) => page.getByLabel(name, { exact: true }).nth(nth);
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).first().waitFor();
const faulty = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).first().waitFor();

async function assertGood(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertWellFormed(page);
  assertQuiet(page);
}

const ORDERING = ['can_create_payments', 'can_manage_payments'];

/** A client with an account of 1,000 euros, and the page of somebody who orders. */
async function open(permissions = ORDERING, client: object = {}) {
  const exchange = await createExchange(service);
  const { world, clientId } = exchange;
  const account = await exchange.fund('EUR', '1000.00');
  const calendar = { decimals: 2, cutoff_time: '15:30', holidays: [{ date: '2026-12-25', name: 'Christmas Day' }] };
  await exchange.put('/currencies/EUR', calendar);
  if (Object.keys(client).length > 0)
    assert.equal((await service.operator('PATCH', `/clients/${clientId}`, client)).status, 200);
  const person = await world.hire('Ada', { password: world.password }, permissions);
  const page = await browser.open();
  page.setDefaultTimeout(WAIT_MS);
  const visit = async (path = '/app/payments/new') => {
    await signInTo(page, service, person, path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  return { ...exchange, account: String(account), person, page, visit };
}

/** Chooses a payee by typing. */
async function choose(page: Page, name: string, nth = 0): Promise<void> {
  await field(page, 'Payee', nth).fill(name);
  await page.getByRole('option').filter({ hasText: name }).first().click();
}

describe('/app/payments/new', { skip }, () => {
  test('what arrives at once for two payments is not lost, and Enter never takes the payee of another text', async () => {
    const { page, visit, account, clientId } = await open();
    await service.operator('POST', '/beneficiaries', {
      ...{ client_id: clientId, beneficiary_name: 'Aceites del Sur', currency: 'EUR' },
      ...{ beneficiary_active: true, beneficiary_authorised: true, beneficiary_completed: true },
    });
    await visit();
    const line = (nth: number) => page.getByRole('group', { name: `Payment ${nth + 1}` });
    await choose(page, 'Müller');
    await click(page, 'Add payment');
    await field(page, 'Payee', 1).fill('Müller');
    await page.getByRole('listbox').getByRole('option').filter({ hasText: 'Müller' }).first().waitFor();
    await field(page, 'Payee', 1).fill('Aceites');
    await page.keyboard.press('Enter');
    await until(async () => (await field(page, 'Payee', 1).inputValue()) === 'Aceites del Sur');
    await field(page, 'Payee', 1).fill('');
    await choose(page, 'Müller', 1);
    for (const nth of [0, 1]) await field(page, 'Amount', nth).fill('10');
    await field(page, 'From').selectOption(account);
    for (const nth of [0, 1]) {
      await line(nth).getByText('for today until 15:30').waitFor();
      assert.equal(await field(page, 'Payment date', nth).inputValue(), '2026-11-24');
    }
    await page.getByText('2 payments EUR\u00a020.00').waitFor();
    await page.context().close();
  });

  test('a refusal is said in the language of the person', async () => {
    const { page, visit, account } = await open();
    await visit();
    await page.getByLabel('Language').selectOption('de');
    // The page is loaded anew in it, and forgets what was chosen before.
    await page.getByRole('heading', { level: 1, name: 'Neue Zahlung' }).waitFor();
    const named = (name: string) => page.locator(`[name="${name}"]`);
    await named('source').selectOption(account);
    await named('reason').selectOption('payment_for_goods');
    await page.getByLabel('Empfänger', { exact: true }).fill('Müller');
    await page.getByRole('option').filter({ hasText: 'Müller' }).first().click();
    await page.getByLabel('Betrag', { exact: true }).fill('2000');
    await page.getByLabel('Verwendungszweck', { exact: true }).fill('Rechnung 42');
    await page.getByRole('button', { name: 'Prüfen', exact: true }).click();
    await faulty(page, 'Verfügbar sind EUR\u00a01.000,00, benötigt werden EUR\u00a02.000,00');
    assert.equal(await named('source').getAttribute('aria-invalid'), 'true');
    await page.context().close();
  });

  test('a payment from an account, and the same once more', async () => {
    const { page, visit, call, account, clientId, world } = await open();
    const approvers = { payment_approvals_enabled: true, authorisation_workflow: '4-eyes' };
    assert.equal((await service.operator('PATCH', `/clients/${clientId}`, approvers)).status, 200);
    await visit();
    await page.getByRole('heading', { level: 1, name: 'New payment' }).waitFor();
    await click(page, 'Review');
    await faulty(page, 'Choose a payee of the list');
    assert.equal(await page.locator(':focus').getAttribute('name'), 'source');
    await assertGood(page);

    await field(page, 'From').selectOption(account);
    await field(page, 'Reason').selectOption('payment_for_goods');
    await choose(page, 'Müller');
    await page.getByText('for today until 15:30').waitFor();
    assert.equal(await field(page, 'Payment date').inputValue(), '2026-11-24');
    await field(page, 'Amount').fill('2,000.00');
    await page.getByText('EUR\u00a02,000.00', { exact: true }).waitFor();
    await field(page, 'Reference').fill('Invoice 42');
    await field(page, 'Payment date').fill('2026-12-25');
    await faulty(page, 'holiday Christmas Day');
    await click(page, 'Review');
    await faulty(page, 'holiday Christmas Day');
    await field(page, 'Payment date').fill('2026-12-05');
    await faulty(page, 'weekend');
    await field(page, 'Payment date').fill('2026-12-07');
    await click(page, 'Review');
    await faulty(page, 'available: 1000.00, needed: 2000.00, currency: EUR');
    await field(page, 'Amount').fill('250.50');
    await click(page, 'Review');
    await page.getByRole('button', { name: 'Create payment', exact: true }).waitFor();
    const shown = await page.locator('main').innerText();
    for (const text of [
      'EUR\u00a0250.50',
      'Müller GmbH',
      'DE89',
      '7 Dec 2026',
      'Invoice 42',
      '1 approval is needed',
      'Owner of',
    ])
      assert.ok(shown.replace(/\s+/g, ' ').includes(text.replace(/\s+/g, ' ')), `${text} in ${shown}`);
    assert.equal(await page.getByText('Possible duplicate').count(), 0);
    assert.equal((await call('GET', '/payments')).body.length, 0, 'a review keeps nothing');
    await assertGood(page);
    await click(page, 'Create payment');
    await said(page, 'The payment was created');
    const [made] = (await call('GET', '/payments')).body;
    assert.deepEqual(
      [made.amount, made.beneficiary_id, made.payment_date, made.status],
      [250.5, world.beneficiaryId, '2026-12-07', 'Payment pending of authorization'],
    );
    await assertGood(page);

    await page.getByRole('link', { name: made.payment_id, exact: true }).click();
    await click(page, 'Pay again');
    await page.getByRole('heading', { level: 1, name: 'New payment' }).waitFor();
    assert.equal(await field(page, 'Payee').inputValue(), 'Müller GmbH');
    assert.equal(await field(page, 'From').inputValue(), account);
    assert.equal(await field(page, 'Amount').inputValue(), '250.50');
    assert.equal(await field(page, 'Reason').inputValue(), 'payment_for_goods');
    await click(page, 'Add payment');
    await choose(page, 'Mü', 1);
    await field(page, 'Amount', 1).fill('1');
    await field(page, 'Reference', 1).fill('Invoice 43');
    await assertWellFormed(page);
    await click(page, 'Review');
    await page.getByText('Possible duplicate').waitFor();
    await assertGood(page);
    await click(page, 'Create payment');
    await said(page, '2 payments were created');
    assert.equal((await call('GET', '/payments')).body.length, 3);

    await page.getByRole('link', { name: 'Payees', exact: true }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'Müller GmbH' })
      .getByRole('button', { name: 'Pay', exact: true })
      .click();
    await page.getByRole('heading', { level: 1, name: 'New payment' }).waitFor();
    assert.equal(await field(page, 'Payee').inputValue(), 'Müller GmbH');
    assert.equal(await field(page, 'From').inputValue(), account, 'the only account in the currency of the payee');
    await assertGood(page);
    await page.context().close();
  });

  test('a payee in another currency: one order with its exchange', async () => {
    const { page, visit, call, fund } = await open([...ORDERING, 'can_trade']);
    const pounds = String(await fund('GBP', '5000.00'));
    await visit();
    await field(page, 'From').selectOption(pounds);
    await field(page, 'Reason').selectOption('other');
    await choose(page, 'Müller');
    await field(page, 'Amount').fill('100');
    await field(page, 'Reference').fill('Invoice 44');
    await page.getByRole('timer').waitFor();
    await page.getByText(/1 GBP = 1\.1\d+ EUR/).waitFor();
    await assertGood(page);
    await click(page, 'Review');
    await page.getByRole('button', { name: 'Create payment', exact: true }).waitFor();
    await page.getByRole('timer').waitFor();
    await assertGood(page);
    await click(page, 'Create payment');
    await said(page, 'The payment was created');
    const [made] = (await call('GET', '/payments')).body;
    const trade = (await call('GET', `/trades/${made.trade_id}`)).body;
    assert.deepEqual([made.amount, trade.buy_amount, trade.sell_currency], [100, 100, 'GBP']);
    await page.context().close();
  });

  test('closed markets are said once both currencies are known, with the time when they open', async (context) => {
    const { page, visit, fund, account } = await open([...ORDERING, 'can_trade']);
    const pounds = String(await fund('GBP', '5000.00'));
    // A Saturday.
    await moveClock(service, '2026-11-28T10:00:00Z');
    context.after(() => moveClock(service, FX_OPEN));
    await visit();
    await field(page, 'From').selectOption(pounds);
    await choose(page, 'Müller');
    await said(page, 'The markets are closed until Sunday 29 November at 22:00');
    await assertGood(page);
    await field(page, 'From').selectOption(account);
    await page.getByText('The markets are closed').waitFor({ state: 'detached' });
    await field(page, 'From').selectOption(pounds);
    await field(page, 'Reason').selectOption('other');
    await field(page, 'Amount').fill('100');
    await field(page, 'Reference').fill('Invoice 44');
    await click(page, 'Review');
    await faulty(page, 'The markets are closed until Sunday 29 November at 22:00');
    assert.equal(await page.getByText('The markets are closed until').count(), 1);
    await page.context().close();
  });

  test('where the client asks for a code, the order ends with it', async () => {
    const { page, person, account, call } = await open(ORDERING, { approval_step_up: true });
    const { body } = await service.operator('PATCH', `/contacts/${person.contactId}`, { second_factor: 'totp' });
    const totp = new TOTP({ secret: Secret.fromBase32(body.totp.secret) });
    const code = () => totp.generate({ timestamp: service.service.context.clock.now().getTime() });
    await page.goto(`${service.api}/app/payments/new`);
    await page.locator('[name=email]').fill(person.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('[name=verification_code]').fill(code());
    await page.keyboard.press('Enter');

    // By keyboard alone.
    await page.getByRole('heading', { level: 1, name: 'New payment' }).waitFor();
    const type = async (name: string, text: string) => {
      await tabTo(page, name);
      await page.keyboard.type(text);
    };
    await type('From', 'EUR a');
    assert.equal(await field(page, 'From').inputValue(), account);
    await type('Reason', 'Other');
    await type('Payee', 'mül');
    await page.getByRole('option').filter({ hasText: 'Müller' }).waitFor();
    await page.keyboard.press('Enter');
    await type('Amount', '12.34');
    await page.getByText('for today until 15:30').waitFor();
    await type('Reference', 'Invoice 45');
    await page.keyboard.press('Enter');
    await page.getByText('You approve it yourself, with a code').waitFor();
    await tabTo(page, 'Create payment');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Verification code').waitFor();
    await assertAccessible(page);
    await service.operator('PUT', '/clock', { advance_seconds: 30 });
    await dialog.getByLabel('Verification code').fill(code());
    await page.keyboard.press('Enter');
    await said(page, '1 approved');
    const [made] = (await call('GET', '/payments')).body;
    assert.deepEqual([made.amount, made.status], [12.34, 'Validating beneficiary information']);
    assertQuiet(page);
    await page.context().close();
  });

  test('who may not create payments is not led there', async () => {
    const { page, visit } = await open(['can_manage_payments']);
    await visit();
    await page.getByText('You may not').first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'New payment', exact: true }).count(), 0);
    assertQuiet(page);
    await page.context().close();
  });
});

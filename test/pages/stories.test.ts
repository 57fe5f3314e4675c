import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { approvalsWorld } from '../world/approvals.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  signInTo,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { createExchange } from '../world/exchange.ts';
import { Firefox, skipFirefox } from '../world/firefox.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { PASSWORD } from '../world/visitor.ts';

/** What people come for, from its first click to its last. */

const WAIT_MS = 60_000;
const PHONE = '+442079460002';
const FILE = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];
const HEADER =
  'payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_name,beneficiary_country,bank_country,iban';

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

const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).first().waitFor();

async function openPage(options: object = {}): Promise<Page> {
  const page = await (browser as TestBrowser).open(options);
  page.setDefaultTimeout(WAIT_MS);
  return page;
}

async function assertGood(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertWellFormed(page, 390, 1_280, 1_920);
  assertQuiet(page);
}

describe('stories', { skip }, () => {
  test('a bookkeeper pays a new supplier in another currency', async () => {
    const { world, fund, call } = await createExchange(service);
    const pounds = String(await fund('GBP', '5000.00'));
    const permissions = ['can_create_payments', 'can_manage_beneficiaries', 'can_trade'];
    const bookkeeper = await world.hire('Bookkeeper', { password: PASSWORD }, permissions);
    const page = await openPage();
    await signInTo(page, service, bookkeeper);
    await page.getByRole('link', { name: 'New payment', exact: true }).click();
    await field(page, 'From').selectOption(pounds);
    await field(page, 'Reason').selectOption('payment_for_goods');
    await click(page, 'New payee');
    const dialog = page.getByRole('dialog');
    const ask = (name: string) => dialog.getByLabel(name, { exact: true });
    await ask('Name').fill('Holzwerk Süd GmbH');
    await ask('Country').selectOption('DE');
    await ask('Bank country').selectOption('DE');
    await ask('Currency').selectOption('EUR');
    await ask('IBAN').fill('DE02 1203 0000 0000 2020 51');
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Save payee', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await field(page, 'Payee').inputValue(), 'Holzwerk Süd GmbH', 'who was made is chosen');
    await field(page, 'Amount').fill('1,250.00');
    await field(page, 'Reference').fill('Invoice 7');
    await page.getByRole('timer').waitFor();
    await page.getByText(/1 GBP = 1\.1\d+ EUR/).waitFor();
    await click(page, 'Review');
    await page.getByText('DE02').first().waitFor();
    await assertGood(page);
    await click(page, 'Create payment');
    await said(page, 'The payment was created');
    const [made] = (await call('GET', '/payments')).body;
    assert.deepEqual([made.amount, made.payment_currency, made.reference], [1250, 'EUR', 'Invoice 7']);
    assert.equal((await call('GET', `/trades/${made.trade_id}`)).body.sell_currency, 'GBP');
    await page.context().close();
  });

  test('a controller drops a file, mends three rows, accepts the cost, and confirms with one code', async () => {
    const { world, clientId, fund, call } = await createExchange(service);
    const pounds = String(await fund('GBP', '5000.00'));
    assert.equal((await service.operator('PATCH', `/clients/${clientId}`, { approval_step_up: true })).status, 200);
    const controller = await world.hire('Controller', { password: PASSWORD }, FILE);
    const { body } = await service.operator('PATCH', `/contacts/${controller.contactId}`, { second_factor: 'totp' });
    const totp = new TOTP({ secret: Secret.fromBase32(body.totp.secret) });
    const code = () => totp.generate({ timestamp: service.service.context.clock.now().getTime() });
    const page = await openPage({ acceptDownloads: true });
    await page.goto(`${service.api}/app/files`);
    await page.locator('[name=email]').fill(controller.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('[name=verification_code]').fill(code());
    await page.keyboard.press('Enter');
    const row = (amount: string, reference: string, iban: string) =>
      `EUR,${amount},${reference},buy,spot,Müller GmbH,DE,DE,${iban}`;
    const good = 'DE89370400440532013000';
    const rows = [
      row('10.00', 'Invoice 1', good),
      row('x', 'Invoice 2', good),
      row('30.00', 'Invoice 3', 'DE00370400440532013000'),
      row('40.00', 'I', good),
      row('50.00', 'Invoice 5', good),
    ];
    /** Drops a file, as from a folder. */
    const drop = async (lines: string[]) => {
      await field(page, 'From').selectOption(pounds);
      await field(page, 'Reason').selectOption('payment_for_goods');
      const text = `${[HEADER, ...lines].join('\r\n')}\r\n`;
      const dropped = await page.evaluateHandle(
        `(() => { const transfer = new DataTransfer();
          transfer.items.add(new File([${JSON.stringify(text)}], 'suppliers.csv', { type: 'text/csv' })); return transfer; })()`,
      );
      await page.locator('.drop-place').dispatchEvent('drop', { dataTransfer: dropped });
      await page.getByRole('heading', { level: 1, name: /^File / }).waitFor();
    };
    await drop(rows);
    await said(page, '5 rows, 3 failed, 0 created');
    const failed = page.getByRole('table', { name: 'Rows that failed' });
    for (const line of ['3', '4', '5']) await failed.getByRole('cell', { name: line, exact: true }).waitFor();
    await assertGood(page);
    const [download] = await Promise.all([page.waitForEvent('download'), click(page, 'Download errors')]);
    assert.equal(
      readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\r\n').length,
      4,
    );
    await click(page, 'Discard');
    await said(page, 'The file was discarded');

    await page.getByRole('link', { name: 'Files', exact: true }).click();
    rows.splice(
      1,
      3,
      row('20.00', 'Invoice 2', good),
      row('30.00', 'Invoice 3', good),
      row('40.00', 'Invoice 4', good),
    );
    await drop(rows);
    await said(page, '5 rows, 0 failed, 0 created');
    await page.getByText('EUR\u00a0150.00', { exact: true }).first().waitFor();
    await page.getByText('Estimated cost').waitFor();
    await page.getByText(/^GBP\u00a012\d\.\d\d$/).waitFor();
    await field(page, 'At most').fill('130');
    await click(page, 'Confirm');
    const dialog = page.getByRole('dialog');
    await service.operator('PUT', '/clock', { advance_seconds: 30 });
    await dialog.getByLabel('Verification code').fill(code());
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await said(page, '5 rows, 0 failed, 5 created');
    assert.equal((await call('GET', '/payments')).body.length, 5);
    await assertGood(page);
    await page.context().close();
  });

  test('the approver decides twelve payments on a phone with one code', async () => {
    const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes', approval_step_up: true });
    const ann = await world.hire('Ann', undefined, { second_factor: 'sms', phone: PHONE, password: PASSWORD });
    const ids: string[] = [];
    for (let amount = 1; amount <= 12; amount += 1) ids.push(await world.create(amount));
    const page = await openPage({ viewport: { width: 390, height: 844 } });
    const codes = async () =>
      (await service.operator('GET', '/text-messages')).body
        .filter(({ to }: { to: string }) => to === PHONE)
        .map(({ text }: { text: string }) => /\b(\d{6})\b/.exec(text)?.[1]);
    const nextCode = (count: number) => until(async () => ((await codes()).length > count ? (await codes())[0] : ''));
    await page.goto(`${service.api}/app/approvals`);
    await page.locator('[name=email]').fill(ann.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('[name=verification_code]').fill(await nextCode(0));
    await page.keyboard.press('Enter');
    await page.getByLabel('Select all', { exact: true }).check();
    await page.getByText('EUR\u00a078.00', { exact: true }).first().waitFor();
    await assertAccessible(page);
    const sent = (await codes()).length;
    await click(page, 'Approve selected');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('EUR\u00a078.00').first().waitFor();
    await dialog.getByLabel('Verification code').fill(await nextCode(sent));
    await dialog.getByRole('button', { name: 'Approve 12 payments', exact: true }).click();
    await said(page, '12 approved, 0 failed');
    assert.equal((await codes()).length, sent + 1, 'one code for all');
    for (const id of ids) assert.equal((await world.payment(id, ann)).status, 'Validating beneficiary information');
    assertQuiet(page);
    await page.context().close();
  });

  test('the first page says what there is, what leaves, what went wrong, and what happened', async () => {
    const { world, fund, clientId } = await createExchange(service);
    await fund('EUR', '1234.50');
    await fund('JPY', '7');
    const [leaving, wrong] = [
      await world.pay({ amount: 60.5, payment_date: '2026-12-01' }),
      await world.pay({ amount: 3 }),
    ];
    await world.pay({ amount: 40, payment_date: '2027-01-04' });
    const act = async (id: string, action: string) => {
      const { status, text } = await service.operator('POST', `/payments/${id}/actions`, { action, reason: 'unknown' });
      assert.equal(status, 200, text);
    };
    await act(wrong.body.payment_id, 'invalidate');
    const person = await world.hire('Ada', { password: PASSWORD }, [...FILE, 'can_manage_webhooks']);
    const { body: payee } = await service.operator('POST', '/beneficiaries', {
      ...{ client_id: clientId, beneficiary_name: 'Zwielicht GmbH', currency: 'EUR' },
    });
    await service.operator('PATCH', `/beneficiaries/${payee.beneficiary_id}`, { beneficiary_blocked: true });
    await service.query(
      `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, reason, created_by, created_at, received)
       values (gen_random_uuid(), $1, 'Salaries 11', 'Failed', false, 'other', $2, $3, 0)`,
      [clientId, person.contactId, service.service.context.clock.now()],
    );
    await service.query(
      `with s as (insert into subscriptions (client_id, contact_id, url, active, types, created_at, updated_at)
         values ($1, $2, 'https://receiver.example/hooks', true, '{PAYMENT_STATUS_CHANGE}', now(), now()) returning id)
       insert into webhook_endpoints (subscription_id, failing_since) select id, now() from s`,
      [clientId, person.contactId],
    );
    const page = await openPage();
    await signInTo(page, service, person);
    const part = (name: string) => page.getByRole('region', { name, exact: true });
    await part('Accounts').getByText('EUR\u00a01,234.50').first().waitFor();
    await part('Accounts').getByRole('img', { name: 'JPY: balance of the last 30 days' }).waitFor();
    const bars = part('Leaving in the next 14 days');
    await bars.getByRole('heading', { name: 'EUR\u00a060.50' }).waitFor();
    await bars.getByText('As a table').click();
    const day = bars.getByRole('row').filter({ hasText: '1 Dec 2026' });
    assert.match(await day.innerText(), /EUR\u00a060\.50 · 1 payment/);
    const failed = part('What went wrong');
    await failed.getByText('Stopped by the institution').waitFor();
    await failed.getByRole('link', { name: wrong.body.payment_id, exact: true }).waitFor();
    for (const [name, what] of [
      [payee.beneficiary_name, 'Blocked by the institution'],
      ['Salaries 11', 'Failed'],
      ['https://receiver.example/hooks', 'Deliveries fail'],
    ])
      await failed.getByRole('listitem').filter({ hasText: name }).getByText(what, { exact: true }).waitFor();
    await part('Recent activity').getByRole('heading', { level: 3 }).first().waitFor();
    assert.equal(await failed.getByRole('link', { name: leaving.body.payment_id }).count(), 0);
    await assertGood(page);
    const other = await createExchange(service);
    const empty = await other.world.hire('Bea', { password: PASSWORD });
    const nothing = await openPage();
    await signInTo(nothing, service, empty);
    await nothing.getByText('Nothing leaves in the next 14 days').waitFor();
    await nothing.getByText('Nothing in the last 14 days').waitFor();
    await assertGood(nothing);
    for (const each of [page, nothing]) await each.context().close();
  });
});

test('Firefox: an order from an account', { skip: skipFirefox }, async () => {
  const { world, fund, call } = await createExchange(service);
  await fund('EUR', '1000.00');
  const bookkeeper = await world.hire('Bookkeeper', { password: PASSWORD }, ['can_create_payments']);
  const firefox = await Firefox.start();
  try {
    await firefox.open(`${service.api}/app/payments/new`);
    await firefox.fill('[name=email]', bookkeeper.email);
    await firefox.fill('[name=password]', PASSWORD);
    await firefox.enter();
    await firefox.fill('[name=source]', 'EUR a');
    await firefox.fill('[name=reason]', 'Other');
    await firefox.fill('[name=payee]', 'mül');
    await firefox.until(`document.querySelector('[role=option]')?.textContent.includes('Müller')`);
    await firefox.enter();
    await firefox.fill('[name=amount]', '12.50');
    await firefox.until(`document.querySelector('[name=payment_date]').value`);
    await firefox.fill('[name=reference]', 'Invoice 9');
    await firefox.enter();
    await firefox.press('Create payment');
    await firefox.until(
      `[...document.querySelectorAll('[role=status]')].some((each) => each.textContent.includes('The payment was created'))`,
    );
    const [made] = (await call('GET', '/payments')).body;
    assert.deepEqual([made.amount, made.reference], [12.5, 'Invoice 9']);
  } finally {
    await firefox.close();
  }
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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
import { createExchange } from '../world/exchange.ts';
import { MUELLER, pain001 } from '../world/iso20022.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { PASSWORD } from '../world/visitor.ts';

/** Files of payments on the pages: sent, looked through, confirmed. */

const WAIT_MS = 30_000;
const HEADER =
  'payment_currency,payment_amount,payment_reference,direction,trade_type,beneficiary_name,beneficiary_country,bank_country,iban';
const NEW = 'Neu GmbH,DE,DE,DE02120300000000202051';
const KNOWN = 'Müller GmbH,DE,DE,DE89370400440532013000';
const HOSTILE = '<img src=x onerror="window.hacked=1">';

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
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).first().waitFor();
const faulty = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).first().waitFor();
const csv = (...rows: string[]) => ({
  ...{ name: 'suppliers.csv', mimeType: 'text/csv' },
  buffer: Buffer.from(`${[HEADER, ...rows].join('\r\n')}\r\n`),
});

async function assertGood(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertWellFormed(page);
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assertQuiet(page);
}

const SENDING = ['can_create_payments', 'can_manage_multipayments', 'can_manage_beneficiaries', 'can_trade'];

/** A client with money, and the page of somebody who sends files. */
async function open(permissions = SENDING, client: object = {}) {
  const exchange = await createExchange(service);
  const { world, clientId } = exchange;
  const account = String(await exchange.fund('EUR', '1000.00'));
  if (Object.keys(client).length > 0)
    assert.equal((await service.operator('PATCH', `/clients/${clientId}`, client)).status, 200);
  const person = await world.hire('Ada', { password: world.password }, permissions);
  const page = await browser.open({ acceptDownloads: true });
  page.setDefaultTimeout(WAIT_MS);
  return { ...exchange, account, person, page, visit: () => signInTo(page, service, person, '/app/files') };
}

describe('/app/files', { skip }, () => {
  test('a CSV with a bad row: what is wrong, what is new, and the confirmation', async () => {
    const { page, visit, account, call } = await open();
    await visit();
    await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor();
    const file = csv(
      `EUR,10.50,Invoice 1,buy,spot,${KNOWN}`,
      `EUR,x,"Invoice 2, part",buy,spot,"${HOSTILE.replaceAll('"', '""')}",DE,DE,DE02120300000000202051`,
      `EUR,20.00,Invoice 3,buy,spot,${NEW}`,
    );
    await field(page, 'File').setInputFiles(file);
    await faulty(page, 'This is needed');
    await assertGood(page);
    await field(page, 'From').selectOption(account);
    await field(page, 'Reason').selectOption('payment_for_goods');
    await click(page, 'Send again');
    await page.getByRole('heading', { level: 1, name: /File sha256:/ }).waitFor();
    await said(page, '3 rows, 1 failed, 0 created');
    const failed = page.getByRole('table', { name: 'Rows that failed' });
    const row = failed.getByRole('row').filter({ hasText: 'payment_amount' });
    await row.waitFor();
    assert.match(await row.innerText(), /^3\b/, 'the header is line 1');
    await page.getByText('Neu GmbH').waitFor();
    await page.getByText('EUR\u00a030.50', { exact: true }).first().waitFor();
    await assertGood(page);
    const [download] = await Promise.all([page.waitForEvent('download'), click(page, 'Download errors')]);
    const lines = readFileSync(await download.path(), 'utf8').split('\r\n');
    assert.match(lines[0] ?? '', /^\ufeffpayment_currency,payment_amount,payment_reference,.*,error$/);
    assert.match(lines[1] ?? '', /^EUR,x,"Invoice 2, part",buy,spot,.*invalid_format/);
    assert.equal(lines.length, 3);

    // Whoever comes back finds it.
    await page.goto(`${service.api}/app/files`);
    await page
      .getByRole('table', { name: 'Files' })
      .getByRole('link', { name: /sha256:/ })
      .click();
    await field(page, 'At most').fill('x');
    await click(page, 'Confirm');
    await faulty(page, 'This is no amount');
    await field(page, 'At most').fill('');
    await click(page, 'Confirm');
    await said(page, 'Confirmed');
    await said(page, '3 rows, 1 failed, 2 created');
    assert.equal((await call('GET', '/payments')).body.length, 2);
    await assertGood(page);
    await page.getByRole('link', { name: 'Show the 2 payments' }).click();
    await page.getByText('2 payments').first().waitFor();

    await page.goto(`${service.api}/app/files`);
    await field(page, 'From').selectOption(account);
    await field(page, 'Reason').selectOption('other');
    await field(page, 'File').setInputFiles(file);
    await faulty(page, 'This file was sent before');
    await field(page, 'File').setInputFiles({ ...file, buffer: Buffer.from('unknown\r\n1\r\n') });
    await faulty(page, 'the header has "unknown"');
    await page.context().close();
  });

  test('JSON keeps its digits, and can be discarded; templates; a pain.001', async () => {
    const { page, visit, account, call, clientId } = await open();
    const payee = {
      ...{ client_id: clientId, beneficiary_name: 'Müller, Söhne', country_code: 'DE', bank_country_code: 'DE' },
      ...{ currency: 'EUR', iban: 'DE89370400440532013000' },
    };
    assert.equal((await service.operator('POST', '/beneficiaries', payee)).status, 201);
    await visit();
    await field(page, 'From').selectOption(account);
    await field(page, 'Reason').selectOption('other');
    const row = `{"payment_currency":"EUR","payment_amount":1.50,"payment_reference":"Invoice 1","direction":"buy","trade_type":"spot",
      "beneficiary_name":"Neu GmbH","beneficiary_country":"DE","bank_country":"DE","iban":"DE02120300000000202051"}`;
    await field(page, 'File').setInputFiles({
      name: 'a.json',
      mimeType: 'application/json',
      buffer: Buffer.from(`[${row}]`),
    });
    await said(page, '1 row, 0 failed, 0 created');
    await page.getByText('EUR\u00a01.50', { exact: true }).first().waitFor();
    await click(page, 'Discard');
    await said(page, 'The file was discarded');
    assert.equal((await call('GET', '/mass-payments')).body[0].mass_payment_status, 'Cancelled');

    await page.goto(`${service.api}/app/files`);
    for (const [name, says] of [
      ['Template', /^\ufeffpayment_currency,payment_amount[^\r]+\r\n$/],
      ['Template with payees', /\r\nEUR,,,buy,spot,,,,"Müller, Söhne",DE,DE,.*DE89370400440532013000/],
    ] as const) {
      const link = page.getByRole('link', { name, exact: true });
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      assert.match(readFileSync(await download.path(), 'utf8'), says);
    }

    const debtor = `<Id><Othr><Id>${account}</Id></Othr></Id><Ccy>EUR</Ccy>`;
    const transfer = { ...MUELLER, rest: '<RmtInf><Ustrd>Invoice 42</Ustrd></RmtInf>' };
    const block = { debtor, day: '2026-11-25', transfers: [transfer] };
    const xml = (blocks: object[]) => ({
      ...{ name: 'pay.xml', mimeType: 'application/xml' },
      buffer: Buffer.from(pain001({ messageId: 'MSG-1', blocks: blocks as never })),
    });
    await field(page, 'File').setInputFiles({ ...xml([]), buffer: Buffer.from('<Document/>') });
    await faulty(page, 'FF01');
    await field(page, 'File').setInputFiles(
      xml([
        { ...block, id: 'A' },
        { ...block, id: 'B', day: '2020-01-01' },
      ]),
    );
    await said(page, '1 part of the file was taken, 1 refused');
    await page.getByText('DT01').first().waitFor();
    await page.getByRole('link', { name: 'A', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'File A' }).waitFor();
    await said(page, '1 row, 0 failed, 1 created');
    await assertGood(page);
    await page.context().close();
  });

  test('where the client asks for a code, the confirmation needs it', async () => {
    const { page, person, account, call } = await open(SENDING, { approval_step_up: true });
    const { body } = await service.operator('PATCH', `/contacts/${person.contactId}`, { second_factor: 'totp' });
    const totp = new TOTP({ secret: Secret.fromBase32(body.totp.secret) });
    const code = () => totp.generate({ timestamp: service.service.context.clock.now().getTime() });
    await page.goto(`${service.api}/app/files`);
    await page.locator('[name=email]').fill(person.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.locator('[name=verification_code]').fill(code());
    await page.keyboard.press('Enter');
    await field(page, 'From').selectOption(account);
    await field(page, 'Reason').selectOption('other');
    await field(page, 'File').setInputFiles(csv(`EUR,10.50,Invoice 1,buy,spot,${KNOWN}`));
    await said(page, '1 row, 0 failed, 0 created');
    await click(page, 'Confirm');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Verification code').fill('000000');
    await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
    await dialog.getByText('The code is wrong').waitFor();
    await assertAccessible(page);
    await service.operator('PUT', '/clock', { advance_seconds: 30 });
    await dialog.getByLabel('Verification code').fill(code());
    await page.keyboard.press('Enter');
    await said(page, '1 row, 0 failed, 1 created');
    assert.equal((await call('GET', '/payments')).body[0].status, 'Validating beneficiary information');
    assertQuiet(page);
    await page.context().close();
  });

  test('who may not send files is not led there', async () => {
    const { page, visit } = await open(['can_create_payments']);
    await visit();
    await page.getByText('You may not').first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Files', exact: true }).count(), 0);
    assertQuiet(page);
    await page.context().close();
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { accessToken } from '../world/access-token.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  signInTo,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** What clients order on the pages, as bookkeepers do. */

const IBAN = 'DE02120300000000202051';
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
const field = (page: Page, name: string) => page.getByRole('dialog').getByLabel(name, { exact: true });
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
const faulty = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();

describe('/app/payees', { skip }, () => {
  test('a payee from its creation to its end', async () => {
    const world = await createWorld(service, 'Payees');
    const bookkeeper = await world.hire('Bookkeeper', { password: world.password }, ['can_manage_beneficiaries']);
    const token = await accessToken(service, bookkeeper.contactId);
    const listed = async () => (await service.client(token, 'GET', `/beneficiaries?client_id=${world.clientId}`)).body;
    const before: number = (await listed()).length;
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, bookkeeper, '/app/payees');
    await page.getByRole('heading', { level: 1, name: 'Payees' }).waitFor();

    await click(page, 'New payee');
    await field(page, 'Name').fill(`Müller ${'& Söhne '.repeat(16).trim()}`);
    await field(page, 'Country').selectOption('DE');
    assert.equal(await field(page, 'Bank country').inputValue(), 'DE');
    await field(page, 'Bank country').selectOption('GB');
    await field(page, 'Currency').selectOption('GBP');
    await field(page, 'Sort Code').waitFor();
    await field(page, 'Bank country').selectOption('DE');
    await field(page, 'Currency').selectOption('EUR');
    await field(page, 'IBAN').fill('DE00120300000000202051');
    await field(page, 'IBAN').press('Tab');
    await faulty(page, 'This is not a valid IBAN');
    await assertAccessible(page);
    await assertWellFormed(page);
    assert.equal((await listed()).length, before, 'a trial keeps nothing');
    await click(page, 'Save payee');
    await faulty(page, 'This is not a valid IBAN');
    await field(page, 'IBAN').fill(IBAN);
    await field(page, 'IBAN').press('Enter');
    await said(page, 'The payee was saved');
    const made = (await listed()).at(-1);
    assert.equal(made.bank_accounts[0].iban, IBAN);

    assert.equal(await page.getByRole('button', { name: 'Pay', exact: true }).count(), 0, 'who may not order payments');
    await page.getByLabel('Search payees').fill('nobody of this name');
    await page.getByText('No payee has this name').waitFor();
    await page.getByLabel('Search payees').fill('müller');
    const row = page.getByRole('row').filter({ hasText: IBAN });
    await row.getByRole('button', { name: 'Change', exact: true }).click();
    await field(page, 'Name').fill('Müller KG');
    await click(page, 'Save payee');
    await row.filter({ hasText: 'Müller KG' }).waitFor();
    assert.equal((await listed()).at(-1).name, 'Müller KG');
    await assertAccessible(page);
    await assertWellFormed(page);

    await row.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await said(page, 'The payee was deleted');
    await row.waitFor({ state: 'detached' });
    assert.equal((await listed()).length, before);

    await click(page, 'New payee');
    await click(page, 'Save payee');
    await page.getByRole('dialog').getByLabel('Name').and(page.locator(':focus')).waitFor();
    await field(page, 'Name').fill('Müller AG');
    await field(page, 'Country').selectOption('DE');
    await field(page, 'Currency').selectOption('EUR');
    const checked = page.waitForResponse(/validate_only=true/);
    await field(page, 'IBAN').focus();
    await checked;
    await field(page, 'IBAN').fill(IBAN);
    await click(page, 'Save payee');
    await said(page, 'The payee was saved');
    await page.context().close();
  });

  test('a file of payees is sent once it is chosen, and the rows that failed are told', async () => {
    const world = await createWorld(service, 'Uploads');
    const bookkeeper = await world.hire('Bookkeeper', { password: world.password }, ['can_manage_beneficiaries']);
    const token = await accessToken(service, bookkeeper.contactId);
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, bookkeeper, '/app/payees');
    const [template] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Template', exact: true }).click(),
    ]);
    const columns = readFileSync(await template.path(), 'utf8')
      .trim()
      .split(',');
    const row = (given: Record<string, string>) => columns.map((name) => given[name] ?? '').join(',');
    const german = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
    const rows = [
      { name: 'Uploaded KG', ...german, iban: IBAN },
      { name: '<b>Bad</b>', ...german, iban: 'DE00120300000000202051' },
    ];
    const choose = async (name: string, text: string) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), click(page, 'Upload payees')]);
      await chooser.setFiles({ name, mimeType: '', buffer: Buffer.from(text) });
    };
    await choose('nonsense.csv', 'colour\nred\n');
    await page.getByRole('alert').filter({ hasText: 'colour' }).waitFor();
    await choose('payees.csv', [columns.join(','), ...rows.map(row)].join('\r\n'));
    await said(page, '1 payee was created, 1 row failed.');
    const failed = page.getByRole('table', { name: 'Rows that failed' });
    await failed.getByRole('row').filter({ hasText: 'iban: must be' }).getByText('3', { exact: true }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Uploaded KG' }).waitFor();
    await assertAccessible(page);
    await assertWellFormed(page);
    await choose('payees.json', JSON.stringify([{ ...rows[0], name: 'Other KG', iban: 'DE89370400440532013000' }]));
    await said(page, '1 payee was created.');
    const listed = (await service.client(token, 'GET', `/beneficiaries?client_id=${world.clientId}`)).body;
    const names = listed.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.slice(-2), ['Uploaded KG', 'Other KG']);
    await page.context().close();
  });

  test('who may not manage payees reads them only', async () => {
    const world = await createWorld(service, 'Readers');
    const reader = await world.hire('Reader of payees', { password: world.password }, ['can_manage_payments']);
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, reader, '/app/payees');
    await page.getByRole('heading', { level: 1, name: 'Payees' }).waitFor();
    await page.getByLabel('Search payees').fill('x');
    await page.getByText('No payee has this name').waitFor();
    for (const name of ['New payee', 'Upload payees', 'Change', 'Delete'])
      assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name);
    assertQuiet(page);
    await page.context().close();
  });
});

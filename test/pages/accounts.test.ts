import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
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
import { startTestService, type TestService } from '../world/service.ts';

/** What is on a client's accounts, what of it is held, and its statements as files. */

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

async function assertGood(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertWellFormed(page);
  assertQuiet(page);
}

describe('/app/accounts', { skip }, () => {
  test('what is on the accounts, what is available, and what holds the difference', async () => {
    const { page, call, quoted, fund, clientId } = await open();
    const accountId = await fund('GBP', '100000012000.00');
    const quote = await quoted();
    const booked = await call('POST', `/trades?quote_id=${quote.quote_id}`, {
      reason: 'other',
      funding_account_id: accountId,
    });
    assert.equal(booked.status, 201, booked.text);
    await page.reload();
    const row = page.getByRole('table', { name: 'Accounts' }).getByRole('row').filter({ hasText: 'GBP' });
    for (const amount of ['100,000,012,000.00', '100,000,002,000.00', '10,000.00'])
      await row.getByText(`GBP\u00a0${amount}`, { exact: true }).waitFor();
    const held = page.getByRole('table', { name: 'What is held' });
    await held.getByRole('row').filter({ hasText: booked.body.trade_id }).getByText('GBP\u00a010,000.00').waitFor();
    await assertGood(page);
    const debit = await service.operator('POST', '/transactions', {
      ...{ client_id: clientId, currency_account_id: accountId, kind: 'DEBIT_TRANSACTION' },
      ...{ amount: { amount: '10000.00', currency: 'GBP' }, trade_id: booked.body.trade_id },
    });
    assert.equal(debit.status, 201, debit.text);
    await page.getByRole('link', { name: 'GBP', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Balance in GBP' }).waitFor();
    await page.getByText('GBP\u00a0100,000,002,000.00').first().waitFor();
    await page.getByRole('table', { name: 'What is held' }).waitFor({ state: 'detached' });
    await assertGood(page);
    await page.context().close();
  });

  test('of forty currencies one is found by its code or name, and accounts without money are folded', async () => {
    const { page, fund, clientId } = await open();
    await fund('GBP', '12.00');
    await fund('PLN', '7.50');
    const others = Intl.supportedValuesOf('currency').filter((code) => /^[A-F]/.test(code));
    for (const currency of others.slice(0, 38))
      await service.operator('POST', '/currency-accounts', { client_id: clientId, currency });
    await page.reload();
    const rows = page.getByRole('table', { name: 'Accounts' }).getByRole('row');
    await page.getByRole('button', { name: 'Show 38 accounts without money' }).waitFor();
    assert.equal(await rows.count(), 3, 'a head and two accounts');
    await assertGood(page);
    for (const [text, code] of [
      ['aud', 'AUD'],
      ['zloty', 'PLN'],
      ['canadian', 'CAD'],
    ] as const) {
      await page.getByLabel('Find a currency').fill(text);
      await page.getByRole('status').filter({ hasText: '1 currency' }).waitFor();
      await rows.getByRole('link', { name: code, exact: true }).waitFor();
    }
    await page.getByLabel('Find a currency').fill('');
    await page.getByRole('button', { name: 'Show 38 accounts without money' }).click();
    await page.getByRole('button', { name: 'Hide 38 accounts without money' }).waitFor();
    assert.equal(await rows.count(), 41);
    await assertGood(page);
    await page.context().close();
  });

  for (const [format, begin] of [
    ['pdf', '%PDF'],
    ['csv', 'transaction_id'],
    ['camt053', '<?xml'],
  ] as const)
    test(`a statement is downloaded as ${format}`, async () => {
      const { page, fund, clientId } = await open();
      await fund('EUR', '7.50');
      await page.reload();
      await page.getByRole('button', { name: 'Download statement', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('From', { exact: true }).fill('2026-11-30');
      await dialog.getByLabel('To', { exact: true }).fill('2026-11-01');
      await dialog.getByRole('button', { name: 'Download', exact: true }).click();
      await dialog.getByRole('alert').filter({ hasText: 'The last day must not be before the first' }).waitFor();
      await dialog.getByLabel('From', { exact: true }).fill('2026-11-01');
      await dialog.getByLabel('To', { exact: true }).fill('');
      await dialog.getByLabel('Format', { exact: true }).selectOption(format);
      await assertAccessible(page);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download', exact: true }).click(),
      ]);
      const text = readFileSync(await file.path(), 'latin1');
      assert.ok(text.includes(begin), text.slice(0, 200));
      assert.match(file.suggestedFilename(), new RegExp(`^statement_${clientId}_2026-11-01_2026-11-24\\.`));
      await page.getByRole('status').filter({ hasText: file.suggestedFilename() }).waitFor();
      await assertGood(page);
      await page.context().close();
    });
});

/** A client that exchanges, and the page of its accounts for somebody who may only look. */
async function open() {
  const exchange = await createExchange(service);
  const reader = await exchange.world.hire('Reader', { password: exchange.world.password }, []);
  const page = await browser.open();
  page.setDefaultTimeout(WAIT_MS);
  await signInTo(page, service, reader, '/app/accounts');
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
  return { ...exchange, page };
}

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readAmount } from '../../pages/data/amount.ts';
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
import { tabTo } from '../world/keyboard.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Exchanges on the pages: what they cost, their booking, and the trades that they become. */

const WAIT_MS = 30_000;
const HOSTILE = '<img src=x onerror="window.hacked=1">\u202Eevil';

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
const said = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
const faulty = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).first().waitFor();

async function assertGood(page: Page): Promise<void> {
  await assertAccessible(page);
  await assertWellFormed(page);
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assertQuiet(page);
}

/** A client that exchanges, and a page of somebody of it. */
async function open(path: string, permissions = ['can_trade']) {
  const exchange = await createExchange(service);
  const person = await exchange.world.hire('Bookkeeper', { password: exchange.world.password }, permissions);
  const page = await browser.open();
  page.setDefaultTimeout(WAIT_MS);
  const visit = async () => {
    await signInTo(page, service, person, path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  return { ...exchange, person, page, visit };
}

async function fill(page: Page, amount: string): Promise<void> {
  await field(page, 'Sell currency').selectOption('GBP');
  await field(page, 'Buy currency').selectOption('EUR');
  await field(page, 'Sell amount').fill(amount);
}

describe('/app/exchange', { skip }, () => {
  test('a quote with its count-down, booked, and where to pay in', async () => {
    const { page, visit, call, clientId } = await open('/app/exchange');
    const details = {
      ...{ client_id: clientId, currency: 'GBP', country: 'GB', account_holder_name: 'Lombard' },
      ...{ financial_institution_name: HOSTILE },
      international: { account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' },
    };
    const made = await service.operator('POST', '/account-details', details);
    assert.equal(made.status, 201, made.text);
    await visit();
    await page.getByRole('link', { name: 'Exchange', exact: true }).waitFor();
    await click(page, 'Get quote');
    await faulty(page, 'This is needed');
    await fill(page, '10,000.005');
    await click(page, 'Get quote');
    await faulty(page, 'must have at most 2 decimals, as GBP has');
    assert.equal(await field(page, 'Sell amount').getAttribute('aria-invalid'), 'true');
    await assertGood(page);
    await field(page, 'Sell amount').fill('10,000');
    await click(page, 'Get quote');
    await page
      .getByRole('timer')
      .getByText(/Good for \d+ seconds?/)
      .waitFor();
    const offer = page.getByRole('region', { name: 'Quote' });
    await offer.getByText('1 GBP = 1.179075 EUR').waitFor();
    await offer.getByText('11,790.75').first().waitFor();
    await click(page, 'Book');
    await faulty(page, 'This is needed');
    assert.equal(await field(page, 'Reason').getAttribute('aria-invalid'), 'true');
    await field(page, 'Reason').selectOption('payment_for_goods');
    await assertAccessible(page);
    await click(page, 'Book');
    await said(page, 'is booked: you buy EUR\u00a011,790.75 and sell GBP\u00a010,000.00');
    const [trade] = (await call('GET', '/trades?status=Created&buy_currency=EUR')).body.slice(-1);
    assert.deepEqual([trade.buy_amount, trade.sell_amount], [11_790.75, 10_000]);
    const payIn = page.getByRole('region', { name: 'Where to pay in' });
    await payIn.getByText('GB29NWBK60161331926819').waitFor();
    await payIn.getByText(trade.trade_id).waitFor();
    await assertGood(page);
    await page.getByRole('link', { name: trade.trade_id }).click();
    await page.getByRole('heading', { level: 1, name: `Trade ${trade.trade_id}` }).waitFor();
    await payIn.getByText('GB29NWBK60161331926819').waitFor();
    const paid = await service.operator('PATCH', `/trades/${trade.trade_id}`, { status: 'Funds In Full' });
    assert.equal(paid.status, 200, paid.text);
    await payIn.getByText('All of it has arrived').waitFor();
    await page.context().close();
  });

  test('the bought side is fixed, an account pays, and the keyboard is enough', async () => {
    const { page, visit, call, fund, clientId } = await open('/app/exchange');
    const little = await fund('GBP', '100.00');
    await visit();
    await tabTo(page, 'Sell currency');
    await page.keyboard.type('GBP');
    await tabTo(page, 'Buy currency');
    await page.keyboard.type('EUR');
    await tabTo(page, 'Buy amount');
    await page.keyboard.type('12500.00');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Quote' }).getByText('10,601.53').first().waitFor();
    await field(page, 'Pay from').selectOption(String(little));
    await field(page, 'Reason').selectOption('other');
    await tabTo(page, 'Book');
    await page.keyboard.press('Enter');
    await faulty(page, 'available: 100.00, needed: 10601.53, currency: GBP');
    assert.equal(await field(page, 'Pay from').getAttribute('aria-invalid'), 'true');
    const booked = await service.operator('POST', '/transactions', {
      ...{ client_id: clientId, currency_account_id: little },
      ...{ kind: 'CREDIT_TRANSACTION', amount: { amount: '20000.00', currency: 'GBP' } },
    });
    assert.equal(booked.status, 201, booked.text);
    await click(page, 'Book');
    await said(page, 'is booked');
    await page.getByText('Nothing has to be paid in: your account is debited.').waitFor();
    const balances = (await call('GET', '/balances?balance_types=Available&currencies=GBP')).body;
    assert.equal(balances[0].amount.amount, 9498.47);
    await page.context().close();
  });

  test('a quote that expired cannot be booked; while FX is closed there is an estimate', async (context) => {
    const { page, visit, put } = await open('/app/exchange');
    context.after(() => put('/pricing', { quote_seconds: 30 }));
    context.after(() => put('/fx-availability', { mode: 'auto' }));
    await put('/pricing', { quote_seconds: 5 });
    await visit();
    await fill(page, '10000');
    await click(page, 'Get quote');
    await page.getByRole('button', { name: 'Book', exact: true }).waitFor();
    await said(page, 'The quote has expired');
    assert.equal(await page.getByRole('button', { name: 'Book', exact: true }).count(), 0);
    await assertAccessible(page);
    await put('/fx-availability', { mode: 'closed' });
    await click(page, 'Get quote');
    await said(page, 'this is an estimate and cannot be booked');
    assert.equal(await page.getByRole('button', { name: 'Book', exact: true }).count(), 0);
    await assertGood(page);
    await page.context().close();
  });

  test('who may not trade is not led there, and sees nothing there', async () => {
    const { page, visit } = await open('/app/exchange', ['can_create_payments']);
    await visit();
    await page.getByText('You may not see this').waitFor();
    await page.getByRole('link', { name: 'Trades', exact: true }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Exchange', exact: true }).count(), 0);
    assert.equal(await page.getByRole('button', { name: 'Get quote' }).count(), 0);
    await page.context().close();
  });
});

describe('/app/trades', { skip }, () => {
  test('trades with what is left of them, their payments, and a drawdown', async () => {
    const { page, visit, world, clientId, call } = await open('/app/trades');
    const paid = await world.pay({ reference: HOSTILE });
    assert.equal(paid.status, 201, paid.text);
    const window = await service.operator('POST', '/trades', {
      ...{ client_id: clientId, contact_id: world.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
      ...{ buy_amount: 100_000, rate: 1.25, trade_type: 'window_forward', maturity_date: '2027-03-01' },
    });
    assert.equal(window.status, 201, window.text);
    const id = window.body.trade_id;
    const long = await service.operator('POST', '/trades', {
      ...{ client_id: clientId, contact_id: world.contactId, buy_currency: 'EUR', sell_currency: 'GBP' },
      ...{ buy_amount: 123_456_789_012.34, rate: 1.25, status: 'Funds Out Partially Allocated' },
    });
    assert.equal(long.status, 201, long.text);
    await visit();
    const table = page.getByRole('table', { name: 'Trades' });
    await table.getByRole('row').filter({ hasText: world.tradeId }).getByText('EUR\u00a099,900.00').waitFor();
    await assertGood(page);
    await field(page, 'Status').selectOption('Closed');
    await page.getByText('No trade matches this search').waitFor();
    await field(page, 'Status').selectOption('');
    await page.getByRole('link', { name: world.tradeId }).click();
    await page.getByRole('heading', { level: 1, name: `Trade ${world.tradeId}` }).waitFor();
    await page.getByRole('table', { name: 'Payments' }).getByText(paid.body.payment_id).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Draw down' }).count(), 0);
    await assertGood(page);

    await page.goto(`${service.api}/app/trades/${id}?client_id=${clientId}`);
    await click(page, 'Draw down');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Buy amount').fill('100000.01');
    await dialog.getByLabel('Value date').fill('2027-04-01');
    await dialog.getByLabel('Reason').selectOption('salary_payroll');
    await dialog.getByRole('button', { name: 'Draw down' }).click();
    await faulty(page, 'must be at most 2027-03-01, when the trade matures');
    await dialog.getByLabel('Value date').fill('');
    await dialog.getByRole('button', { name: 'Draw down' }).click();
    await faulty(page, 'available: 100000, needed: 100000.01, currency: EUR');
    await assertAccessible(page);
    await dialog.getByLabel('Buy amount').fill('25,000');
    // The service draws down, but its answers do not arrive.
    await page.route('**/drawdowns?*', async (route) => {
      await route.fetch();
      await route.abort('connectionrefused');
    });
    await dialog.getByRole('button', { name: 'Draw down' }).click();
    await dialog.getByRole('alert').waitFor();
    await page.unroute('**/drawdowns?*');
    await dialog.getByRole('button', { name: 'Draw down' }).click();
    await said(page, 'Drawn down as');
    const [drawn, ...more] = (await call('GET', `/trades?parent_trade_id=${id}`)).body;
    assert.deepEqual(more, [], 'drawn down once');
    assert.deepEqual([drawn.buy_amount, drawn.sell_amount], [25_000, 20_000]);
    await page.getByRole('table', { name: 'Drawdowns' }).getByText(drawn.trade_id).waitFor();
    await page.getByText('EUR\u00a075,000.00').first().waitFor();
    await assertGood(page);
    await page.context().close();
  });

  test('a trade of another client is a designed 404', async () => {
    const { page, visit } = await open('/app/trades');
    const other = await createExchange(service);
    await visit();
    for (const id of [other.world.tradeId, 'none']) {
      const answer = await page.goto(`${service.api}/app/trades/${id}`);
      assert.equal(answer?.status(), 404);
    }
    assert.equal(await page.locator('h1').count(), 1);
    await page.context().close();
  });
});

describe('amounts as people write them', () => {
  for (const [locale, text, amount] of [
    ['en-GB', '1,234.50', '1234.50'],
    ['en-GB', '1234.5', '1234.5'],
    ['en-GB', '1,5', undefined],
    ['en-GB', '007', '7'],
    ['en-GB', '1e3', undefined],
    ['en-GB', '-5', undefined],
    ['en-GB', '1.234.50', undefined],
    ['de', '1.234,50', '1234.50'],
    ['de', '1234,5', '1234.5'],
    ['de', '1234.50', '1234.50'],
    ['de', '10.500', '10500'],
    ['de', '1,234,50', undefined],
    ['fr', '1 234,50', '1234.50'],
    ['es', '', undefined],
  ] as const)
    test(`${locale}: ${text}`, () => assert.equal(readAmount(text, locale), amount));
});

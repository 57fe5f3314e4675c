import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { assertQuiet, assertWellFormed, skip, startBrowser, type TestBrowser } from '../world/browser.ts';
import { pageSession } from '../world/page-session.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { cookieOf } from '../world/visitor.ts';

/** How lists, tabs and cards stand in a usual window and on a phone, with the demonstration and with large amounts. */

const CLIENT = 'CLI000001';
const CREATOR = 'CON000001';
const APPROVER = 'CON000003';
const EUR_ACCOUNT = 2;
const FILE = '0b6e6a3c-5b1e-4f43-9d0e-3d2a7a1c9e48';
const DESK = { width: 1_280, height: 900 };
/** Of a desktop's window, its scroll bar takes some. */
const BESIDE_SCROLL_BAR = { width: 1_265, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A row of one line is 40 px high, with its line. One of two lines has 55 at least. */
const MAX_ONE_LINE_PX = 45;
/** A tab is 36 px high, on a touch screen 44. */
const MAX_TABS_PX = 48;
/** The padding of a card on a phone, and less than a line of text. */
const MAX_EDGE_PX = 32;
/** A name in the head has 24 px. */
const MAX_NAME_PX = 28;
/** A badge of one line has 22 px. */
const MAX_BADGE_PX = 28;

let service: TestService;
let browser: TestBrowser;
before(async () => {
  if (skip) return;
  service = await startTestService();
  await ensureDemonstration(service.service.context);
  const large = { amount: '123456789.50', currency: 'EUR' };
  const booked = await service.operator('POST', '/transactions', {
    ...{ client_id: CLIENT, currency_account_id: EUR_ACCOUNT, kind: 'CREDIT_INCOMING_TRANSACTION', amount: large },
  });
  assert.equal(booked.status, 201, booked.text);
  await service.query(
    `update payments set amount = 123456789.50 where payment_id = (select max(payment_id) from payments where client_id = $1)`,
    [CLIENT],
  );
  await service.query(
    `update trades set buy_amount = 12345678.50, sell_amount = 12345678.50, status = 'Funds In Full'
     where trade_id = (select max(trade_id) from trades where client_id = $1)`,
    [CLIENT],
  );
  await service.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, sell_currency, reason, created_by,
       created_at, received, processed, errored)
     values ($1, $2, 'SUPPLIERS-2026-11-27', 'Processed', false, 'GBP', 'other', 'CON000001', now(), 2, 2, 1)`,
    [FILE, CLIENT],
  );
  browser = await startBrowser();
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
});

/** A page of a demonstration's person. */
async function openApp(locale: string, person = CREATOR, viewport = DESK): Promise<Page> {
  const page = await browser.open({ locale, viewport });
  const { cookies } = await pageSession(service, person);
  const name = cookieOf(service, 'app');
  await page.context().addCookies([{ name, value: cookies.get(name) as string, url: service.api }]);
  return page;
}

async function openConsole(language: string): Promise<Page> {
  const page = await browser.open({ viewport: DESK });
  await page.addInitScript(`localStorage.setItem('lombard.language', '${language}')`);
  await page.goto(`${service.operatorUrl}/console`);
  await page.locator('[name=token]').fill(service.operatorToken);
  await page.keyboard.press('Enter');
  await page.locator('.frame-nav').waitFor();
  return page;
}

async function go(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

const app = (page: Page, path: string) => go(page, `${service.api}/app${path}`);

async function heights(of: Locator): Promise<number[]> {
  return of.evaluateAll((elements) => elements.map((each) => each.getBoundingClientRect().height));
}

async function assertOneLine(of: Locator, max: number, what: string): Promise<void> {
  const found = await heights(of);
  assert.ok(found.length > 0, `${what}: none`);
  assert.ok(Math.max(...found) <= max, `${what}: ${Math.max(...found)} px high`);
}

describe('lists', { skip }, () => {
  for (const language of ['en', 'de'])
    test(`of the console have one line a row at 1,280 px, ${language}: the client's name, and its whole id`, async () => {
      const page = await openConsole(language);
      for (const path of [
        '/payments',
        `/payments?client_id=${CLIENT}`,
        '/payees',
        '/files',
        '/trades?client_id=CLI000002',
      ]) {
        await go(page, `${service.operatorUrl}/console${path}`);
        const clients = page.locator('tbody td[data-key="client"]');
        await clients.locator('.cut').first().waitFor();
        for (const viewport of [DESK, BESIDE_SCROLL_BAR]) {
          await page.setViewportSize(viewport);
          await assertOneLine(page.locator('tbody tr'), MAX_ONE_LINE_PX, `${path} at ${viewport.width} px`);
          const ends = await clients.evaluateAll((cells) =>
            cells.map((cell) => {
              const id = cell.querySelector('a') as HTMLElement;
              return {
                id: id.textContent,
                isWhole:
                  id.scrollWidth <= id.clientWidth + 1 &&
                  id.getBoundingClientRect().right <= cell.getBoundingClientRect().right,
                title: cell.querySelector('.cut')?.getAttribute('title'),
              };
            }),
          );
          for (const { id, isWhole, title } of ends) {
            assert.match(String(id), /^CLI\d{6}$/);
            assert.ok(isWhole, `${path}: ${id} is cut`);
            assert.match(String(title), /Ashdown Imports Ltd|Brunel Marine plc/);
          }
          await assertWellFormed(page, viewport.width);
        }
      }
      await assertOneLine(page.locator('.frame-nav ul a'), MAX_ONE_LINE_PX - 8, 'the navigation');
      assertQuiet(page);
      await page.context().close();
    });

  test('of trades have states of one line beside large amounts, in the language with the longest words', async () => {
    const page = await openApp('es-ES');
    await app(page, '/trades');
    for (const { width, height } of [DESK, BESIDE_SCROLL_BAR]) {
      await page.setViewportSize({ width, height });
      await page.locator('tbody .money.wide').first().waitFor();
      await assertOneLine(page.locator('tbody .badge'), MAX_BADGE_PX, `states at ${width} px`);
      await assertOneLine(page.locator('tbody tr'), MAX_ONE_LINE_PX, `trades at ${width} px`);
      await assertWellFormed(page, width);
    }
    await page.context().close();
  });

  test('of accounts stay in their card with a large balance, in German', async () => {
    const page = await openApp('de-DE');
    await app(page, '/accounts');
    await page.locator('tbody .money.wide').first().waitFor();
    for (const { width } of [DESK, BESIDE_SCROLL_BAR]) await assertWellFormed(page, width);
    await page.setViewportSize(BESIDE_SCROLL_BAR);
    const within = await page
      .locator('.card > .table-frame')
      .first()
      .evaluate((frame) => frame.scrollWidth <= frame.clientWidth);
    assert.ok(within, 'the table is wider than its card');
    await page.context().close();
  });

  test('give the payment beside them back to the list when the window becomes narrow', async () => {
    const page = await openApp('en-GB');
    await app(page, '/payments?open=PAY000421');
    const beside = page.locator('.beside');
    await beside.waitFor();
    await page.setViewportSize(PHONE);
    await beside.waitFor({ state: 'detached' });
    await assertWellFormed(page, PHONE.width);
    await page.setViewportSize(DESK);
    await beside.waitFor();
    await page.context().close();
  });
});

describe('long names and large balances', { skip }, () => {
  test('have one line in the head of each page and on Home, from a phone to a wide screen', async () => {
    const long = 'Extraordinarily Long-Named Consolidated Manufacturing and Shipping '.repeat(2).trim();
    const huge = { amount: '999999999999.99', currency: 'GBP' };
    const booked = await service.operator('POST', '/transactions', {
      ...{ client_id: 'CLI000002', currency_account_id: 4, kind: 'CREDIT_INCOMING_TRANSACTION', amount: huge },
    });
    assert.equal(booked.status, 201, booked.text);
    await service.operator('PATCH', '/clients/CLI000002', { client_name: long });
    await service.operator('PATCH', '/contacts/CON000006', { name: long });
    const page = await openApp('de-DE', 'CON000006', PHONE);
    for (const viewport of [PHONE, DESK, { width: 1_920, height: 1_080 }]) {
      await page.setViewportSize(viewport);
      await app(page, '');
      await page.locator('.figure-line').first().waitFor();
      await assertOneLine(page.locator('.frame-whose'), MAX_NAME_PX, `names at ${viewport.width} px`);
      const lines = await page
        .locator('.figure-count .money')
        .evaluateAll((all) => all.map((each) => each.getClientRects().length));
      assert.ok(lines.length > 1 && lines.every((each) => each === 1), `balances at ${viewport.width} px: ${lines}`);
      await assertOneLine(page.locator('.activity-payment'), MAX_NAME_PX, `activity at ${viewport.width} px`);
      await assertWellFormed(page, viewport.width);
    }
    assert.deepEqual(
      await page.locator('.frame-whose').evaluateAll((all) => all.map((each) => each.getAttribute('title'))),
      [long, long],
    );
    await page.context().close();
  });
});

describe('on a phone', { skip }, () => {
  test('tabs have one line that scrolls by itself, and the keys reach the last one', async () => {
    const page = await openApp('de-DE', APPROVER, PHONE);
    await app(page, '/approvals');
    const tabs = page.getByRole('tablist');
    await assertOneLine(tabs, MAX_TABS_PX, 'the tabs of Approvals');
    await assertWellFormed(page, PHONE.width);
    await page.getByRole('tab', { name: 'Wartet auf mich' }).focus();
    await page.keyboard.press('End');
    const last = page.getByRole('tab', { name: 'Von mir entschieden' });
    await last.and(page.locator('[aria-selected="true"]')).waitFor();
    await assertInSight(last);
    await app(page, '/payments?status=cancelled');
    const states = page.locator('.state-tabs');
    await assertOneLine(states, MAX_TABS_PX, 'the states of Payments');
    await assertInSight(states.getByRole('link', { name: 'Storniert' }));
    await assertWellFormed(page, PHONE.width);
    await page.context().close();
  });

  test('a list that begins or ends its card has no line there: the card has one', async () => {
    const page = await openApp('en-GB', APPROVER, PHONE);
    for (const path of ['/approvals', '/accounts']) {
      await app(page, path);
      await page.locator('.card tbody tr').first().waitFor();
      const edges = await page.locator('.card:has(.table)').evaluateAll((cards) =>
        cards.map((card) => {
          const rows = [...card.querySelectorAll('tbody tr')] as [Element, ...Element[]];
          const [first, last] = [rows[0], rows.at(-1) as Element];
          const [box, above, below] = [card, first, last].map((each) => each.getBoundingClientRect());
          return {
            line: [getComputedStyle(first).borderTopWidth, getComputedStyle(last).borderBottomWidth],
            space: [Number(above?.top) - Number(box?.top), Number(box?.bottom) - Number(below?.bottom)],
          };
        }),
      );
      // What stands above the rows, or below them, is at least a line of text.
      const begins = edges.filter(({ space: [above = 0] }) => above < MAX_EDGE_PX);
      const ends = edges.filter(({ space: [, below = 0] }) => below < MAX_EDGE_PX);
      assert.ok(begins.length > 0 && ends.length > 0, `${path}: no list begins and ends its card`);
      for (const { line, space } of begins)
        assert.deepEqual([line[0], space[0]], ['0px', 5], `${path}, above the first row`);
      for (const { line, space } of ends)
        assert.deepEqual([line[1], space[1]], ['0px', 5], `${path}, below the last row`);
    }
    await page.context().close();
  });
});

/** Fails if a part of it is outside the window, or outside what scrolls. */
async function assertInSight(of: Locator): Promise<void> {
  const seen = await of.evaluate((each) => {
    const { left, right } = each.getBoundingClientRect();
    const around = (each.parentElement as Element).getBoundingClientRect();
    return left >= Math.max(0, around.left) - 1 && right <= Math.min(innerWidth, around.right) + 1;
  });
  assert.ok(seen, `${await of.textContent()} is not in sight`);
}

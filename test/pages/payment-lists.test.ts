import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { ElementHandle, Page } from 'playwright-core';
import { londonDay } from '../../src/values/calendar.ts';
import { approvalsWorld } from '../world/approvals.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { focusOn } from '../world/keyboard.ts';
import { pageSession } from '../world/page-session.ts';
import { button, choice, paymentPages, row } from '../world/payment-pages.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { cookieOf } from '../world/visitor.ts';

/** The lists of payments: those that wait, and the search. */

const PHONE = '+442079460001';
const SCRIPT = '<img src=x onerror=alert(1)>\u202e<script>alert(2)</script>';

let service: TestService;
let browser: TestBrowser | undefined;
before(async () => {
  if (skip) return;
  service = await startTestService();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await service?.stop();
});

const { open, go, newestCode, codeAfter } = paymentPages(() => ({ service, browser }));

/** Two clients, and a contact of both. */
async function twoClients() {
  const [one, two] = [await approvalsWorld(service, []), await approvalsWorld(service, [])];
  const both = await one.hire('Both', undefined, {});
  await service.operator('PATCH', `/contacts/${both.id}`, {
    clients: [{ client_id: one.clientId }, { client_id: two.clientId }],
  });
  return { one, two, both };
}

describe('lists', { skip }, () => {
  test('follow what happens; selections stay, and nothing moves under the pointer', async () => {
    const world = await approvalsWorld(service, ['Ann', 'Bob'], { authorisation_workflow: '4-eyes' });
    const ids = [await world.create('1'), await world.create('2'), await world.create('3')] as [string, string, string];
    const page = await open(world.person('Ann'), world, '/approvals');
    await choice(page, ids[2]).check();
    const place = await row(page, ids[2]).boundingBox();
    await world.patch(world.person('Bob'), ids[0], 'authorise');
    const added = await world.create('444444444.44', { payment_date: '2026-11-24', reference: 'long '.repeat(28) });
    await choice(page, added).waitFor();
    await row(page, ids[0])
      .getByText(/approved by/)
      .waitFor();
    assert.ok(await choice(page, ids[2]).isChecked());
    assert.deepEqual(await row(page, ids[2]).boundingBox(), place);
    await choice(page, ids[2]).uncheck();
    await page.mouse.move(5, 5);
    await page.getByRole('heading', { level: 1 }).click();
    await row(page, ids[0]).waitFor({ state: 'detached' });
    await assertAccessible(page);
    assertQuiet(page);
    await page.context().close();
  });

  test('a double click approves once, and says what the one call did', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const ids = [await world.create('1'), await world.create('2')];
    const page = await open(world.person('Ann'), world, '/approvals');
    const sent: string[] = [];
    page.on('request', (request) => request.url().includes('/app/data/approvals') && sent.push(request.url()));
    for (const id of ids) await choice(page, id).check();
    await button(page, 'Approve selected').click();
    await button(page, 'Approve 2 payments').dblclick();
    await page.getByRole('status').filter({ hasText: '2 approved, 0 failed' }).waitFor();
    assert.equal(sent.length, 1);
    await page.context().close();
  });

  test('go back to the last page that there is, where the page that was shown is decided', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const id = await world.create('1');
    const page = await open(world.person('Ann'), world, '/profile');
    // Of a second page, whose payments are decided before it is looked at.
    await page.route('**/app/api/payments?*page=1&page_size=200*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'x-total-count': '201' } });
    });
    await go(page, world, '/approvals');
    await row(page, id).waitFor();
    const second = page.waitForResponse((response) => response.url().includes('page=2&page_size=200'));
    await button(page, 'Next page').click();
    await second;
    await page.getByText('Page 1 of 2').waitFor();
    await row(page, id).waitFor();
    assert.equal(await page.getByText('Nothing waits for you').count(), 0);
    await page.context().close();
  });

  test('are fetched once when they are opened, and again when something has changed', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const page = await open(world.person('Ann'), world, '/approvals');
    let position = 7;
    let asked = 0;
    let fetched = 0;
    await page.route('**/app/data/changes?*', (route) => {
      asked += 1;
      return route.fulfill({ json: { position } });
    });
    page.on('request', (request) => {
      if (request.url().includes('status=pending_your_approval')) fetched += 1;
    });
    await go(page, world, '/approvals');
    await page.getByText('Nothing waits for you').waitFor();
    await until(() => asked > 2);
    assert.equal(fetched, 1);
    position += 1;
    await until(() => fetched === 2);
    await page.context().close();
  });

  test('of two tabs one asks for both; where it is closed the other goes on', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const page = await open(world.person('Ann'), world, '/approvals');
    const tab = await page.context().newPage();
    await go(tab, world, '/approvals');
    const asked: Record<'/app/data/changes' | '/app/session', Page[]> = { '/app/data/changes': [], '/app/session': [] };
    for (const each of [page, tab])
      each.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname in asked) asked[pathname as keyof typeof asked].push(each);
      });
    // Of tabs that each ask by themselves, none asks three times in a row.
    const inARow = (pages: Page[]) =>
      new Set(pages.slice(-3)).size === 1 && pages.length > 2 ? pages.at(-1) : undefined;
    const asking = await until(() => inARow(asked['/app/data/changes']));
    await until(() => inARow(asked['/app/session']));
    const other = asking === page ? tab : page;
    const first = await world.create('1');
    for (const each of [page, tab]) await row(each, first).waitFor();
    await asking.close();
    const second = await world.create('2');
    await row(other, second).waitFor();
    await other.context().close();
  });

  test('tabs that cannot ask hear from another one what somebody else decides, and that somebody else signs in', async () => {
    const world = await approvalsWorld(service, ['Ann', 'Bob'], { authorisation_workflow: '4-eyes' });
    const [ann, bob] = [world.person('Ann'), world.person('Bob')];
    const id = await world.create('1');
    const page = await open(ann, world, '/approvals');
    const [list, payment] = [await page.context().newPage(), await page.context().newPage()];
    for (const deaf of [list, payment])
      await deaf.route('**/app/data/changes?*', (route) => route.abort('internetdisconnected'));
    await go(list, world, '/approvals');
    await go(payment, world, `/payments/${id}`);
    await row(list, id).waitFor();
    await button(payment, 'Approve').focus();
    await world.ask(bob, 'PATCH', `/payments/${id}`, { reason: 'Wrong account' }, '&action=reject');
    await payment.getByText('Wrong account').first().waitFor();
    await focusOn(payment, `Payment ${id}`);
    await list.getByText('Nothing waits for you').waitFor();
    const { cookies } = await pageSession(service, bob.id);
    await page
      .context()
      .addCookies([
        { name: cookieOf(service, 'app'), value: cookies.get(cookieOf(service, 'app')) as string, url: service.api },
      ]);
    await page.reload();
    await page.getByText('Bob', { exact: true }).first().waitFor();
    for (const each of [list, payment]) await each.getByText('Somebody else has signed in in this browser.').waitFor();
    await page.context().close();
  });

  test('of step-up clients: one code approves all that are selected; marks stand beside what deserves a second look', async () => {
    const world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes', approval_step_up: true });
    const ann = await world.hire('Ann', undefined, { second_factor: 'sms', phone: PHONE });
    await service.operator('PATCH', `/beneficiaries/${world.beneficiaryId}`, { beneficiary_name: 'New name' });
    const today = londonDay(service.service.context.clock.now());
    const ids = [await world.create('1', { payment_date: today }), await world.create('2'), await world.create('3')];
    const page = await open(ann, world, '/approvals', { width: 390, height: 844 });
    const [first = ''] = ids;
    for (const mark of ['First payment to this payee', 'Payee changed', 'Due today'])
      await row(page, first).getByText(mark, { exact: true }).waitFor();
    await assertWellFormed(page);
    for (const id of ids) await choice(page, id).check();
    const before = await newestCode();
    await button(page, 'Approve selected').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('EUR 6.00').waitFor();
    await dialog.getByLabel('Verification code').fill('000000');
    await page.keyboard.press('Enter');
    await dialog.getByText('The code is wrong, or was used before').waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('Verification code').fill(await codeAfter(before));
    await dialog.getByRole('button', { name: 'Approve 3 payments', exact: true }).click();
    await page.getByRole('status').filter({ hasText: '3 approved, 0 failed' }).waitFor();
    for (const id of ids) assert.equal((await world.payment(id, ann)).status, 'Validating beneficiary information');
    await page.getByRole('tab', { name: 'Waiting for others', exact: true }).click();
    await page.getByText('Nothing waits for others').waitFor();
    assertQuiet(page);
    await page.context().close();
  });

  test('by keys: j and k move, x selects, a approves, r rejects, ? lists them and switches them off', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const ids = [await world.create('1'), await world.create('2'), await world.create('3'), await world.create('4')];
    const [first, second, third, fourth] = ids as [string, string, string, string];
    const page = await open(world.person('Ann'), world, '/approvals');
    const dialog = page.getByRole('dialog');
    await row(page, fourth).waitFor();
    for (const [key, id] of [
      ['j', first],
      ['j', second],
      ['k', first],
    ] as const) {
      await page.keyboard.press(key);
      await focusOn(page, id);
    }
    await page.keyboard.press('r');
    await page.locator('[name=reason]:focus').waitFor();
    await page.keyboard.type('jar');
    await dialog.getByRole('button', { name: 'Reject payment', exact: true }).press('Enter');
    await page
      .getByRole('status')
      .filter({ hasText: `${first}: Rejected.` })
      .waitFor();
    assert.equal((await world.payment(first)).reason, 'jar');
    await row(page, first).waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await focusOn(page, second);
    await page.keyboard.press('a');
    await dialog.getByRole('button', { name: 'Approve payment', exact: true }).press('Enter');
    await page
      .getByRole('status')
      .filter({ hasText: `${second}: Approved.` })
      .waitFor();
    await row(page, second).waitFor({ state: 'detached' });
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    assert.ok((await choice(page, third).isChecked()) && (await choice(page, fourth).isChecked()));
    await page.keyboard.press('?');
    await dialog.getByText('Next payment').waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('Use these keys').uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await focusOn(page, fourth);
    await page.keyboard.press('x');
    assert.ok(await choice(page, fourth).isChecked(), 'the keys are off');
    await button(page, 'Keys').click();
    await dialog.getByLabel('Use these keys').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('a');
    await dialog.getByRole('button', { name: 'Approve 2 payments', exact: true }).click();
    await page.getByRole('status').filter({ hasText: '2 approved, 0 failed' }).waitFor();
    assertQuiet(page);
    await page.context().close();
  });

  test('the search: filters in the address, pages, order, export', async () => {
    const world = await approvalsWorld(service, []);
    for (let n = 0; n < 3; n += 1) await world.create(`${n + 1}.50`, { reference: n === 0 ? '=1+1' : `R${n}` });
    await service.query(
      `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, status,
         invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
       select $1, $1 || '-' || i, $2, $3, $4, gen_random_uuid(), 'SWIFT', i, 'USD', 'Payment complete', false, $5, $5,
         timestamptz '2026-01-01Z' + i * interval '1 hour', date '2026-01-03' + i, 'simple' from generate_series(1, 117) i`,
      [world.clientId, world.owner.id, world.tradeId, world.beneficiaryId, SCRIPT],
    );
    const page = await open(world.owner, world, '/payments');
    await page.getByText('120 payments', { exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Payments', exact: true });
    assert.equal(await table.getByRole('row').count(), 51);
    assert.equal(await table.getByRole('columnheader', { name: /Created/ }).getAttribute('aria-sort'), 'descending');
    assert.ok(await button(page, 'Previous page').isDisabled());
    await button(page, 'Next page').click();
    await page.waitForURL(/[?&]page=2(&|$)/);
    await page.getByText('Page 2 of 3').waitFor();
    // The number of the page stands in the address, before its rows are there.
    await table.getByRole('link', { name: `${world.clientId}-21`, exact: true }).click();
    // The list's own heading is `Payments`: before the payment is drawn, going back would leave nothing.
    await page.getByRole('heading', { level: 1, name: `Payment ${world.clientId}-21`, exact: true }).waitFor();
    await page.goBack();
    // The page's policy lets nothing be evaluated again and again inside it.
    await until(() => page.evaluate('scrollY > 500'));
    await page.locator('h1:focus').waitFor();
    assert.ok(await page.evaluate('scrollY > 500'), 'the focus on the heading does not scroll back to it');
    await page.getByLabel('Currency', { exact: true }).fill('eur');
    await page.getByLabel('Status', { exact: true }).selectOption('authorised');
    await page.getByLabel('Created from', { exact: true }).fill('2026-01-01');
    await page.getByLabel('Created from', { exact: true }).press('Enter');
    await page.getByText('3 payments', { exact: true }).waitFor();
    await page.locator('input[name=from_created_date]:focus').waitFor();
    const chip = page.locator('.chip').filter({ hasText: 'Created' });
    assert.match(await chip.innerText(), /1 Jan 2026 –/);
    assert.equal(await button(page, 'Apply').count(), 0, 'what was applied is closed');
    await chip.locator('.chip-title').click({ force: true });
    await button(page, 'Apply').waitFor();
    await assertAccessible(page);
    await assertWellFormed(page);
    await page.keyboard.press('Escape');
    await button(page, 'Apply').waitFor({ state: 'detached' });
    const address = new URL(page.url()).searchParams;
    assert.deepEqual(
      ['client_id', 'payment_currency', 'status', 'from_created_date', 'page'].map((name) => address.get(name)),
      [world.clientId, 'EUR', 'authorised', '2026-01-01', null],
    );
    await table.getByRole('button', { name: /Payment date/ }).click();
    await page.waitForURL(/order_by=value_date/);
    const sorted = table.getByRole('columnheader', { name: /Payment date/ }).and(page.locator('[aria-sort=ascending]'));
    await sorted.waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    const file = readFileSync(await download.path(), 'utf8');
    assert.equal(file.trimEnd().split('\r\n').length, 4);
    assert.match(file, /,1\.50,EUR,/);
    assert.match(file, /,'=1\+1,/);
    assert.match(download.suggestedFilename(), /^payments-[\d-]+\.csv$/);
    await page.getByRole('status').filter({ hasText: 'is in your downloads' }).waitFor();
    const refusal = { code: 'rate_limited', message: 'Too many requests.', details: 'too many exports at once' };
    await page.route('**/payments.csv?*', (route) => route.fulfill({ status: 429, json: refusal }));
    await button(page, 'Export CSV').click();
    await page.getByRole('alert').filter({ hasText: 'Too many requests at once' }).waitFor();
    await assertAccessible(page);
    await page.unroute('**/payments.csv?*');
    await page.route('**/payments.csv?*', (route) => route.abort('internetdisconnected'));
    await button(page, 'Export CSV').click();
    await page.getByRole('alert').filter({ hasText: 'The connection broke off' }).waitFor();
    await page.unroute('**/payments.csv?*');
    await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()]);
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.goBack();
    await page.goBack();
    await page.getByText('Page 2 of 3').waitFor();
    await go(page, world, '/payments?amount=5&amount_range=wrong');
    await page.getByRole('alert').waitFor();
    assertQuiet(page);
    await page.context().close();
  });

  test('one field understands an id, a reference, an amount and a payee; states are tabs', async () => {
    const world = await approvalsWorld(service, []);
    const id = await world.create('1234.50', { reference: 'Rent 11' });
    await world.create('7', { reference: 'Rent 12' });
    const page = await open(world.owner, world, '/payments');
    const find = page.getByRole('combobox', { name: 'Find' });
    const finds = page.getByRole('listbox', { name: 'Find' }).getByRole('option');
    const total = (text: string) => page.getByText(text, { exact: true }).waitFor();
    await total('2 payments');
    for (const [text, query] of [
      [id.toLowerCase(), `payment_ids=${id}`],
      ['Rent 11', 'reference=Rent\\+11'],
      ['1.234,50', `payment_ids=${id}`],
    ] as const) {
      await find.fill(text);
      await find.press('Enter');
      await page.waitForURL(new RegExp(query));
      await total('1 payment');
      await button(page, 'Clear filters').click();
      await total('2 payments');
    }
    await find.fill('müll');
    await finds.filter({ hasText: 'Müller GmbH' }).waitFor();
    await assertAccessible(page);
    await assertWellFormed(page);
    await find.press('ArrowDown');
    await find.press('Enter');
    await page.waitForURL(/beneficiary_id=/);
    await total('2 payments');
    await page.getByRole('link', { name: 'Complete', exact: true }).click();
    await page.waitForURL(/beneficiary_id=.*status=complete|status=complete.*beneficiary_id=/);
    await total('0 payments');
    assert.equal(await page.getByLabel('Status', { exact: true }).inputValue(), 'complete');
    // Somebody who types while the list changes loses nothing.
    const all = await page.getByRole('link', { name: 'All', exact: true }).elementHandle();
    await find.evaluate(
      (field: HTMLInputElement, link: HTMLElement) => {
        link.click();
        field.focus();
        document.execCommand('insertText', false, 'nothing');
      },
      all as ElementHandle<HTMLElement>,
    );
    await total('2 payments');
    await find.press('Enter');
    await page.waitForURL(/reference=nothing/);
    await total('0 payments');
    assertQuiet(page);
    await page.context().close();
  });

  test('the payment stands beside the list: arrow keys go through them, and one decides there', async () => {
    const world = await approvalsWorld(service, ['Ann'], { authorisation_workflow: '4-eyes' });
    const [first, second, third] = [await world.create('1'), await world.create('2'), await world.create('3')];
    const page = await open(world.person('Ann'), world, '/payments');
    const beside = (id: string) => page.getByRole('complementary', { name: `Payment ${id}`, exact: true });
    await row(page, third).getByText('Müller GmbH').click();
    await beside(third).getByText('DE89').waitFor();
    const link = (id: string) => page.getByRole('table').getByRole('link', { name: id, exact: true });
    await link(third).focus();
    await page.keyboard.press('ArrowDown');
    await beside(second).getByText('EUR 2.00').waitFor();
    await focusOn(page, second);
    await assertAccessible(page);
    await page.reload();
    await beside(second).getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByLabel('Reason').fill('Twice');
    await page.getByRole('dialog').getByRole('button', { name: 'Reject payment', exact: true }).click();
    await beside(second).getByText('Rejected. The creator is told.').waitFor();
    await page.getByRole('table').getByText('Rejected', { exact: true }).waitFor({ state: 'attached' });
    await link(second).focus();
    await page.keyboard.press('ArrowDown');
    await beside(first).waitFor();
    await page.keyboard.press('Escape');
    await beside(first).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 390, height: 844 });
    await row(page, first).getByText('Müller GmbH').click();
    await page.getByRole('heading', { level: 1, name: `Payment ${first}`, exact: true }).waitFor();
    assertQuiet(page);
    await page.context().close();
  });

  test('two tabs show two clients, and never one’s payments in the other', async () => {
    const { one, two, both } = await twoClients();
    const [first, second] = [await one.create('1'), await two.create('2')];
    const page = await open(both, one, '/payments');
    const tab = await page.context().newPage();
    await go(tab, two, '/payments');
    await page.getByRole('link', { name: first, exact: true }).waitFor();
    await tab.getByRole('link', { name: second, exact: true }).waitFor();
    assert.equal(await tab.getByRole('link', { name: first, exact: true }).count(), 0);
    const mixed = await tab.request.get(`${service.api}/app/payments/${first}?client_id=${two.clientId}`);
    assert.equal(mixed.status(), 404);
    // From the page of a payment, another client leads to its list.
    await tab.getByRole('link', { name: second, exact: true }).click();
    await tab.getByRole('heading', { level: 1, name: `Payment ${second}` }).waitFor();
    await tab.getByLabel('Client', { exact: true }).selectOption(one.clientId);
    await tab.getByRole('link', { name: first, exact: true }).waitFor();
    await page.context().close();
  });

  test('a link without a client asks which one, keeps its filters, and is left by going back', async () => {
    const { one, two, both } = await twoClients();
    await two.create('1', { reference: 'other' });
    const wanted = await two.create('2', { reference: 'wanted' });
    const page = await open(both, one, '/profile');
    await page.goto(`${service.api}/app/payments?reference=wanted`);
    await page.getByRole('heading', { level: 1, name: 'Choose a client' }).waitFor();
    await assertWellFormed(page);
    await assertAccessible(page);
    await page.getByText(two.clientId).waitFor();
    await page.locator('main .card').filter({ hasText: two.clientId }).getByRole('button').click();
    await page.waitForURL(`${service.api}/app/payments?reference=wanted&client_id=${two.clientId}`);
    await page.getByRole('link', { name: wanted, exact: true }).waitFor();
    await page.getByText('1 payment', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    await page.goto(`${service.api}/app/payments/${wanted}`);
    await page.getByRole('heading', { level: 1, name: 'Choose a client' }).waitFor();
    await page.locator('main .card').filter({ hasText: two.clientId }).getByRole('button').click();
    await page.getByRole('heading', { level: 1, name: `Payment ${wanted}` }).waitFor();
    assertQuiet(page);
    await page.context().close();
  });
});

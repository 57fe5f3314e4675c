import assert from 'node:assert/strict';
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
import { createSubscriber } from '../world/graphql.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The pages of a client besides payments and approvals, as finance staff and integrators use them. */

/** What a receiver, a payee or a client may write: it would run where a text becomes part of a page. */
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202Eevil';

/** Longer waits mean that nothing comes. */
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
const said = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
/** A page that is as it should be at the smallest width, in both themes, and has run no script of others. */
async function assertGood(page: Page): Promise<void> {
  await assertWellFormed(page);
  await assertAccessible(page);
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assertQuiet(page);
}

describe('/app/webhooks', { skip }, () => {
  test('a subscription from its creation to its end', async (context) => {
    const world = await createSubscriber(service);
    const receiver = await Receiver.start((_request, response) => {
      response.writeHead(500, { 'content-type': 'text/html', 'x-answer': 'no' }).end(HOSTILE);
    });
    context.after(() => receiver.stop());
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/webhooks');
    await page.getByText('No subscription yet').waitFor();
    await assertGood(page);

    await click(page, 'New subscription');
    await page.getByLabel('URL').fill('nonsense');
    await assertAccessible(page);
    await page.getByLabel('PAYMENT_STATUS_CHANGE', { exact: true }).check();
    await page.getByLabel('URL').press('Enter');
    await page.getByRole('alert').filter({ hasText: 'must be an absolute URL' }).waitFor();
    await page.getByLabel('URL').fill(receiver.url());
    await click(page, 'New subscription');
    const secret = await page.locator('[data-secret]').innerText();
    assert.match(secret, /^whsec_.{40,}/);
    await click(page, 'Done');
    await said(page, 'The subscription was created');
    assert.equal(await page.getByText(secret).count(), 0);

    await click(page, 'Ping');
    await said(page, 'A ping is on its way');
    const delivery = page.getByRole('button', { name: /^PING/ });
    await delivery.click();
    await page.getByRole('region', { name: 'Attempt 1' }).waitFor();
    await page.getByRole('region', { name: 'Answer 1', exact: true }).getByText('onerror').waitFor();
    assert.match(await page.getByRole('region', { name: 'Answer 1', exact: true }).innerText(), /\[U\+202E\]/);
    assert.match(await page.getByRole('region', { name: 'Headers of answer 1' }).innerText(), /x-answer: no/);
    assert.match(await page.getByRole('region', { name: 'Request 1' }).innerText(), /"webhook|\{/);
    await page.getByRole('img', { name: /Attempts in the last 24 hours: 0 succeeded, [1-9]\d* failed/ }).waitFor();
    await assertGood(page);

    receiver.behaviour = (_request, response) => void response.end('thanks');
    await click(page, 'Resend');
    await said(page, 'The notification is sent again');
    await page.getByText('Delivered', { exact: true }).last().waitFor();

    await click(page, 'Change');
    await page.getByLabel('DEBIT_TRANSACTION').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('PAYMENT_STATUS_CHANGE, DEBIT_TRANSACTION').waitFor();
    await click(page, 'Pause');
    await page.getByText('Paused', { exact: true }).waitFor();
    await click(page, 'Replay');
    await page.getByLabel('Since').fill('2020-01-01T00:00');
    await click(page, 'Replay');
    await said(page, 'There is nothing to send again');
    await click(page, 'Rotate secret');
    await click(page, 'Rotate secret');
    const rotated = await page.locator('[data-secret]').innerText();
    assert.notEqual(rotated, secret);
    await click(page, 'Done');
    const { data } = await world.graphql('{ subscriptions { nodes { secret active types } } }');
    assert.deepEqual(data.subscriptions.nodes, [
      { secret: rotated, active: false, types: ['PAYMENT_STATUS_CHANGE', 'DEBIT_TRANSACTION'] },
    ]);
    await click(page, 'Delete');
    await page.keyboard.press('Escape');
    await click(page, 'Delete');
    await click(page, 'Delete');
    await page.getByText('No subscription yet').waitFor();
    await page.context().close();
  });

  test('whoever loses the permission while the page is open is told, and offered no change', async () => {
    const world = await createSubscriber(service);
    await world.subscribe();
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/webhooks');
    await page.getByRole('button', { name: 'Ping', exact: true }).waitFor();
    const lost = await service.operator('PATCH', `/contacts/${world.contactId}`, {
      clients: [{ client_id: world.clientId, permissions: [] }],
    });
    assert.equal(lost.status, 200, lost.text);
    await click(page, 'Ping');
    await page.getByText('You can see what was sent.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Ping', exact: true }).count(), 0);
    await page.context().close();
  });
});

describe('/app/accounts', { skip }, () => {
  test('balances with all their digits, transactions, details for paying in, and statements', async () => {
    const world = await createWorld(service);
    const details = { account_name: HOSTILE, account_number: 'GB29NWBK60161331926819', account_number_type: 'IBAN' };
    const account = await service.operator('POST', '/accounts', {
      client_id: world.clientId,
      currency: 'EUR',
      account_details: [details],
    });
    // Nothing can be paid into the account in GBP.
    for (const [currency, amount] of Object.entries({ EUR: '12345678901234567.89', GBP: '7.50' })) {
      const held = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency });
      const booked = await service.operator('POST', '/transactions', {
        client_id: world.clientId,
        currency_account_id: held.body.account_id,
        kind: 'CREDIT_INCOMING_TRANSACTION',
        amount: { amount, currency },
        debtor_name: HOSTILE,
        transaction_reference: HOSTILE,
      });
      assert.equal(booked.status, 201, booked.text);
    }
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/accounts');
    await page.getByRole('table', { name: 'Accounts' }).getByText('12,345,678,901,234,567.89').first().waitFor();
    await assertGood(page);
    await page.getByRole('link', { name: /GB29NWBK60161331926819/ }).click();
    await page.waitForURL((url) => url.pathname === `/app/accounts/${account.body.account_id}`);
    await page.getByRole('heading', { level: 1, name: 'Account in EUR' }).waitFor();
    await page.getByRole('table', { name: 'Transactions' }).getByText('+EUR\u00a012,345,678,901,234,567.89').waitFor();
    await page.getByRole('img', { name: /Balance of the last 90 days; now EUR.12,345,678,901,234,567.89/ }).waitFor();
    await assertGood(page);
    await click(page, 'Request statement');
    await page.getByRole('dialog').getByRole('button', { name: 'Request statement', exact: true }).dblclick();
    await said(page, 'The statement is on its way');
    const statements = page.getByRole('table', { name: 'Statements' }).getByText(world.email);
    await statements.first().waitFor();
    assert.equal(await statements.count(), 1);
    await page.getByRole('link', { name: 'Accounts', exact: true }).click();
    await page.getByRole('link', { name: 'GBP', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Balance in GBP' }).waitFor();
    await page.getByRole('table', { name: 'Transactions' }).getByText('+GBP\u00a07.50').first().waitFor();
    await page.getByText('There are none yet. Ask your institution.').waitFor();
    await assertGood(page);
    await page.context().close();
  });

  test('an account of another client is a designed 404', async () => {
    const [world, other] = [await createWorld(service), await createWorld(service)];
    const account = await service.operator('POST', '/accounts', { client_id: other.clientId, currency: 'EUR' });
    const page = await browser.open();
    await signInTo(page, service, world, '/app/accounts');
    for (const path of [account.body.account_id, 'currencies/USD']) {
      const answer = await page.goto(`${service.api}/app/accounts/${path}`);
      assert.equal(answer?.status(), 404);
    }
    assert.equal(await page.locator('h1').count(), 1);
    await page.context().close();
  });
});

describe('/app/documents', { skip }, () => {
  test('the instruction of a payment that was searched, and the receipt of a trade', async () => {
    const world = await createWorld(service);
    const made = await world.pay({ reference: HOSTILE });
    await world.pay({ reference: 'another' });
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/documents');
    await page.getByRole('region', { name: `Payment ${made.body.payment_id}` }).waitFor();
    await page.getByLabel('Payment id or reference').fill(HOSTILE);
    await click(page, 'Search');
    await page.getByText('another').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: new RegExp(`Instruction ${made.body.payment_id}`) }).click();
    await page.locator('iframe').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: new RegExp(`Instruction ${made.body.payment_id}`) }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `${made.body.payment_id}-pi.pdf`);
    await assertGood(page);
    await page.getByRole('tab', { name: 'Trades' }).click();
    await page.getByRole('region', { name: `Trade ${world.tradeId}` }).waitFor();
    await page.context().close();
  });
});

describe('/app/developers', { skip }, () => {
  test('requests with code and details, triggers, advance and reset', async () => {
    const world = await createWorld(service);
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/developers');
    const token = await accessToken(service, world.contactId);
    await service.client(
      token,
      'GET',
      `/payments?client_id=${world.clientId}&page=0&reference=${encodeURIComponent(HOSTILE)}`,
    );
    await page.getByLabel('Status').selectOption('4xx');
    await page.getByText('query.page: must be at least 1').waitFor();
    const asked = page.getByRole('button', { name: /GET .*reference=/ });
    await asked.click();
    await click(page, 'Copy as curl');
    const curl = page.getByRole('region', { name: /^curl/ });
    assert.equal(
      await curl.innerText(),
      `curl '${service.api}/payments?client_id=${world.clientId}&page=0&reference=${encodeURIComponent(HOSTILE)}' \\
  -H "Authorization: Bearer $ACCESS_TOKEN"`,
    );
    await click(page, 'Copy as SDK code');
    const code = await page.getByRole('region', { name: /^SDK/ }).innerText();
    assert.match(code, /lombard\.call\('GET \/payments', \{\n {2}query: \{ page: 0, reference: '<img/);
    assert.doesNotMatch(code, /client_id/, 'the SDK adds the client');
    await page
      .getByRole('region', { name: /Answer body/ })
      .getByText('invalid_parameter')
      .waitFor();
    const place = await asked.boundingBox();
    await service.client(token, 'GET', `/payments?client_id=${world.clientId}&page=-1`);
    await page.getByRole('button', { name: /GET .*page=-1/ }).waitFor();
    assert.deepEqual(await asked.boundingBox(), place, 'it keeps its place under the pointer');
    await page.getByLabel('Event').selectOption('PAYMENT_STATUS_CHANGE:SENT');
    await click(page, 'Trigger');
    await said(page, /PAYMENT_STATUS_CHANGE:SENT was triggered: payment/);
    const told = await page.getByRole('status').filter({ hasText: 'was triggered' }).innerText();
    await page.getByLabel('Payment id').fill(told.split(' ').at(-1) ?? '');
    await click(page, 'Advance');
    await said(page, /is now: Payment complete/);
    await assertGood(page);
    await page.getByLabel('Status').selectOption('');
    const own = page.getByRole('button', { name: /POST \/sandbox\/trigger/ });
    assert.equal(await own.count(), 0, 'what these pages ask is left out');
    await page.getByLabel('Also requests of these pages').check();
    await own.waitFor();
    await click(page, 'Reset');
    await click(page, 'Reset');
    await said(page, 'The data is as it was at first');
    await page.context().close();
  });
});

describe('/app/approvals/settings', { skip }, () => {
  test('groups and a rule, tried with sample amounts before they are saved, and their history', async () => {
    const world = await createWorld(service, 'Acme Ltd', { payment_approvals_enabled: true });
    await world.hire(HOSTILE);
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, world, '/app/approvals/settings');
    await click(page, 'Add group');
    await page.getByLabel('Name of group 1').fill('Finance');
    await page.getByRole('checkbox', { name: /Owner of Acme/ }).check();
    await page.getByRole('checkbox', { name: /img src=x/ }).check();
    await click(page, 'Add rule');
    await page.getByLabel('Rule 1: from this amount in GBP').fill('1000.00000001');
    await page.getByLabel('Sample amounts').fill('500 5000');
    const samples = page.getByRole('table', { name: 'Who would have to approve' });
    await samples.getByRole('row', { name: /GBP.500\.00 None/ }).waitFor();
    await samples.getByRole('row', { name: /GBP.5,000\.00 At least 1 person/ }).waitFor();
    await assertGood(page);
    await click(page, 'Save');
    await click(page, 'Save');
    await said(page, 'The rules were saved');
    await page.getByRole('table', { name: 'Versions' }).getByText('Owner of Acme Ltd').waitFor();
    await click(page, 'Changes of version 1');
    await page.getByText(/A rule from GBP.1,000\.00000001 was added/).waitFor();
    await page.keyboard.press('Escape');
    const { rows } = await service.query(
      `select configuration->'ruleset'->'rules'->0->>'minimum_threshold' as from from approval_configurations where client_id = $1`,
      [world.clientId],
    );
    assert.deepEqual(rows, [{ from: '1000.00000001' }]);

    // Another person saves while this form is filled.
    await page.getByLabel('Name of group 1').fill('Treasury');
    const token = await accessToken(service, world.contactId);
    const others = {
      groups: [{ name: 'Board', users: [{ id: world.contactId }] }],
      ruleset: { currency: 'GBP', rules: [] },
    };
    const saved = await service.client(token, 'POST', `/approvals-workflow/config?client_id=${world.clientId}`, {
      body: others,
    });
    assert.equal(saved.status, 200, saved.text);
    await click(page, 'Save');
    const dialog = page.getByRole('dialog', { name: 'Save' });
    await dialog.getByRole('alert').getByText('Somebody else has saved version 2 meanwhile').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled());
    await page.keyboard.press('Escape');
    await click(page, 'Discard changes');
    await page.locator('input[value=Board]').waitFor();

    await page.getByLabel('Name of group 1').fill('');
    await page.getByRole('alert').filter({ hasText: 'groups[0].name' }).first().waitFor();
    await page.context().close();
  });

  test('without the permission the rules are shown, and nothing can be changed', async () => {
    const world = await createWorld(service);
    const reader = await world.hire('Reader', { password: world.password }, []);
    const page = await browser.open();
    page.setDefaultTimeout(WAIT_MS);
    await signInTo(page, service, reader, '/app/approvals/settings');
    await page.getByText('You can see the rules.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
    assert.ok(await page.getByRole('button', { name: 'Add group' }).isDisabled());
    await assertGood(page);
    await page.context().close();
  });
});

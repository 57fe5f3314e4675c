import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** What staff may set of contacts, accounts, clients, payees and tokens in a browser, each act with its reason; and what needs attention. */

const FILE = '0b6e6a3c-5b1e-4f43-9d0e-3d2a7a1c9e49';

let service: TestService;
let browser: TestBrowser;
let page: Page;
let world: Awaited<ReturnType<typeof createWorld>>;
let other: Awaited<ReturnType<typeof createWorld>>;

before(async () => {
  if (skip) return;
  service = await startTestService();
  world = await createWorld(service, 'Ashdown & Söhne');
  other = await createWorld(service, 'Brunel Ltd');
  browser = await startBrowser();
  page = await browser.open();
  await page.goto(`${service.operatorUrl}/console`);
  await page.getByLabel('Operator token').fill(service.operatorToken);
  await page.keyboard.press('Enter');
  await button('Sign out').waitFor();
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
});

const open = (path: string) => page.goto(`${service.operatorUrl}/console${path}`);
const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
const read = async (path: string) => (await service.operator('GET', path)).body;

/** Opens the dialog of an act, fills it, and waits until it is done. */
async function act(name: string, fill?: (dialog: Locator) => Promise<void>, within?: Locator): Promise<void> {
  await button(name, within).first().click();
  const dialog = page.getByRole('dialog', { name });
  await fill?.(dialog);
  await dialog.getByLabel('Reason', { exact: true }).fill(`because of ${name}`);
  await button(name, dialog).click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The reason of the last change of a record. */
const reasonOf = async (entity: string, id: string) =>
  (await read(`/audit?entity=${entity}&entity_id=${id}&order=desc&page_size=1`))[0].reason;

describe('a contact', { skip }, () => {
  test('gets a client and loses it again, and a second factor whose secret is shown once', async () => {
    const { contactId } = world;
    await open(`/contacts/${contactId}`);
    const clients = page.getByRole('region', { name: 'Clients', exact: true });
    await act('Add client', async (dialog) => {
      await dialog.getByLabel('Client', { exact: true }).fill(other.clientId);
      await dialog.getByLabel('exchange money').check();
      await assertAccessible(page);
    });
    const row = clients.getByRole('row').filter({ hasText: other.clientId });
    await row.getByText('exchange money').waitFor();
    assert.equal(await reasonOf('contact', contactId), 'because of Add client');
    await act('Remove client', undefined, row);
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(
      (await read(`/contacts/${contactId}`)).clients.map((each: { client_id: string }) => each.client_id),
      [world.clientId],
    );
    await act('Set second factor', async (dialog) => {
      await dialog.getByLabel('Second factor').selectOption('totp');
    });
    await page.getByRole('img', { name: 'QR code for an authenticator' }).waitFor();
    assert.equal((await read(`/contacts/${contactId}`)).second_factor, 'totp');
    await assertAccessible(page);
    await assertWellFormed(page);
    await page.reload();
    await button('Reset second factor').waitFor();
    assert.equal(await page.getByRole('img', { name: 'QR code for an authenticator' }).count(), 0);
  });

  test('is erased only when it is disabled, and is told what that means', async () => {
    const { contactId } = await world.hire('Ida Holt');
    await open(`/contacts/${contactId}`);
    await button('Disable').waitFor();
    assert.equal(await button('Erase person').count(), 0);
    await act('Disable');
    await act('Erase person', async (dialog) => {
      await dialog.getByText('are replaced wherever they stand, for ever').waitFor();
    });
    await page.getByRole('status').getByText('The erasure is under way.').waitFor();
    await until(async () => (await read(`/contacts/${contactId}`)).name === 'erased');
  });
});

describe('a client', { skip }, () => {
  test('shows its rules, leads to its parts, and is told how its onboarding goes', async () => {
    const { clientId } = world;
    await open(`/clients/${clientId}`);
    await page.getByText('The client has no rules of its own').waitFor();
    const parts = page.getByRole('navigation', { name: 'Parts of this page, and lists' });
    await parts.getByRole('link', { name: 'Quotes' }).click();
    await page.waitForURL(/#quotes$/);
    await act('Report onboarding', async (dialog) => {
      await dialog.getByLabel('New status').fill('Active');
    });
    assert.equal(
      (await read(`/audit?entity=onboarding_event&client_id=${clientId}&order=desc`))[0].reason,
      'because of Report onboarding',
    );
    await parts.getByRole('link', { name: 'Files' }).click();
    await page.waitForURL(`**/console/files?client_id=${clientId}`);
    await page.getByText('Nothing matches these filters.').waitFor();
  });

  test('gets an account, which is changed, disabled and deleted', async () => {
    const { clientId } = world;
    await open(`/accounts?client_id=${clientId}`);
    await act('New account', async (dialog) => {
      await dialog.getByLabel('Currency').fill('EUR');
      await button('Add', dialog).click();
      await dialog.getByLabel('Account number').fill('DE89370400440532013000');
      await dialog.getByLabel('Kind of number').selectOption('IBAN');
      await assertAccessible(page);
    });
    const row = page.getByRole('table', { name: 'Accounts' }).getByRole('row').filter({ hasText: 'EUR' });
    await row.getByText('DE89').waitFor();
    const [account] = await read(`/accounts?client_id=${clientId}`);
    await act('Change', async (dialog) => dialog.getByLabel('Account name').fill('Ashdown'), row);
    await until(
      async () => (await read(`/accounts/${account.account_id}`)).account_details[0].account_name === 'Ashdown',
    );
    await act('Disable', undefined, row);
    await act('Delete', undefined, row);
    await row.getByText('deleted').waitFor();
    assert.equal(await row.getByRole('button').count(), 0);
    assert.equal(await reasonOf('account', account.account_id), 'because of Delete');
    assert.equal(account.account_details[0].account_number_type, 'IBAN');
  });

  test('has a payee whose account is put right', async () => {
    const { beneficiaryId } = world;
    await open(`/payees/${beneficiaryId}`);
    await act('Change', async (dialog) => dialog.getByLabel('SWIFT code').fill('DEUTDEFF500'));
    await page.getByText('DEUTDEFF500').waitFor();
    assert.equal(await reasonOf('beneficiary', beneficiaryId), 'because of Change');
  });
});

test('a token has chosen scopes; the one of the first start has a name in words', { skip }, async () => {
  await open('/tokens');
  await act('Create token', async (dialog) => {
    await dialog.getByLabel('Name').fill('reader');
    await dialog.getByLabel('Role').selectOption('Chosen scopes');
    await dialog.getByLabel('Read', { exact: true }).check();
    await dialog.getByLabel('Audit trail').check();
  });
  const row = page.getByRole('row').filter({ hasText: 'reader' });
  await row.getByText('Read, audit trail').waitFor();
  assert.equal(await page.getByText('first start', { exact: true }).count(), 0);
});

test('a file that failed and a token that ends need attention', { skip }, async () => {
  await service.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, sell_currency, reason, created_by,
       created_at, received, processed, errored, sums, error)
     values ($1, $2, 'WAGES-1', 'Failed', true, 'GBP', 'other', $3, now(), 2, 2, 2, '[]',
       '{"code": "payments_invalid", "message": "No payment is valid", "details": "nothing was made"}')`,
    [FILE, world.clientId, world.contactId],
  );
  await service.operator('POST', '/operator-tokens', {
    ...{ name: 'short', role: 'support' },
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  await open('');
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText('1 operator token ends within a week').waitFor();
  await attention.getByRole('link', { name: '1 file of payments failed' }).click();
  await page.getByRole('table', { name: 'Files' }).getByRole('link', { name: FILE }).click();
  await page.getByText('It failed. Nothing was created; the client sends a mended file.').waitFor();
  await page.getByText('No payment is valid: nothing was made').waitFor();
  await page.getByText('2 of 2 rows cannot be done.').waitFor();
  await assertAccessible(page);
  await assertWellFormed(page);
  assertQuiet(page);
});

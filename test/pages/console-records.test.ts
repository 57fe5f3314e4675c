import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { londonDay } from '../../src/values/calendar.ts';
import {
  assertAccessible,
  assertQuiet,
  assertWellFormed,
  skip,
  startBrowser,
  type TestBrowser,
} from '../world/browser.ts';
import { tabTo } from '../world/keyboard.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** The institution's pages in a browser: lists of records, a client's money, the settings, and how a client is set up. */

const CLIENT = 'CLI000001';
const QUOTES = ['a1', 'b2', 'c3'].map((pair) => pair.repeat(16));
const FILE = '0b6e6a3c-5b1e-4f43-9d0e-3d2a7a1c9e48';

let service: TestService;
let browser: TestBrowser;
let page: Page;
let heldPayment: string;

before(async () => {
  if (skip) return;
  service = await startTestService();
  await ensureDemonstration(service.service.context);
  heldPayment = (await service.operator('GET', '/holds')).body[0].payment_id;
  await service.query(
    `insert into quotes (quote_id, client_id, contact_id, trade_id, trade_type, operation, rate, inverse_rate, buy_amount, buy_currency,
       sell_amount, sell_currency, value_date, maturity_date, created_at, expires_at, mid, spread_bps, rate_as_of)
     select id, $2, 'CON000001', case n when 1 then 'TRD000001' end, 'spot', 'sell', 1.1789, 0.8482, 1178.9, 'EUR', 1000, 'GBP', now(), now(),
       now(), now() + case n when 2 then interval '1 hour' else interval '1 second' end, 1.185, 50, now()
     from unnest($1::text[]) with ordinality as u(id, n)`,
    [QUOTES, CLIENT],
  );
  await service.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, sell_currency, reason, created_by,
       created_at, received, processed, errored, payment_initiation_id, sums, error)
     values ($1, $2, 'SUPPLIERS-48', 'Processed', false, 'GBP', 'other', 'CON000001', now(), 2, 2, 1, 'MSG-48',
       '[{"currency": "EUR", "amount": "10.50", "payments": 1}]',
       '{"code": "rate_moved", "message": "The rate has moved", "details": "the exchanges cost 9.10 GBP"}')`,
    [FILE, CLIENT],
  );
  await service.query(
    `insert into mass_payment_rows (client_id, mass_payment_id, request_index, sent, duplicate, status, errors)
     values ($1, $2, 1, '{}', false, 'invalid',
       '[{"code": "invalid_iban", "message": "The IBAN is not valid", "details": "iban: the check digits do not match"}]')`,
    [CLIENT, FILE],
  );
  browser = await startBrowser();
  page = await browser.open();
  await signIn(page, service.operatorToken);
});
after(async () => {
  if (skip) return;
  await browser.close();
  await service.stop();
});

async function signIn(at: Page, token: string): Promise<void> {
  await at.goto(`${service.operatorUrl}/console`);
  await at.getByLabel('Operator token').fill(token);
  await at.keyboard.press('Enter');
  await at.getByRole('button', { name: 'Sign out' }).waitFor();
}

const open = (path: string, at = page) => at.goto(`${service.operatorUrl}/console${path}`);
const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
const section = (name: string) => page.getByRole('region', { name, exact: true });

/** Opens the dialog of an act, fills it, and waits until the page says that it is done. */
async function act(
  name: string,
  reason: string,
  { fill, within }: { fill?: (dialog: Locator) => Promise<void>; within?: Locator } = {},
): Promise<void> {
  await button(name, within).first().click();
  const dialog = page.getByRole('dialog', { name });
  await fill?.(dialog);
  await dialog.getByLabel('Reason', { exact: true }).fill(reason);
  await button(name, dialog).click();
  await dialog.waitFor({ state: 'hidden' });
}

const lastAudit = async (query: string) =>
  (await service.operator('GET', `/audit?order=desc&page_size=1&${query}`)).body[0];

describe('lists', { skip }, () => {
  test('each shows its records, filters them by the address, and leads to one', async () => {
    const closed = (order: string) =>
      service.operator('GET', `/trades?client_id=${CLIENT}&status=Closed&order=${order}&page_size=1`);
    const [{ trade_id: newest }] = (await closed('desc')).body;
    assert.equal((await closed('asc')).body[0].trade_id, 'TRD000001');
    assert.ok(newest > 'TRD000001', newest);
    for (const [path, filter, name, link, title] of [
      ['/clients', '?status=enabled', 'Clients', CLIENT, `Client ${CLIENT}`],
      ['/contacts', `?client_id=${CLIENT}`, 'Contacts', 'CON000001', 'Contact CON000001'],
      ['/applications', '?status=enabled', 'Applications', 'demo-app', 'Application demo-app'],
      ['/payments', `?client_id=${CLIENT}&source=client`, 'Payments', heldPayment, `Payment ${heldPayment}`],
      ['/trades', `?client_id=${CLIENT}&status=Closed`, 'Trades', newest, `Trade ${newest}`],
      ['/payees', `?client_id=${CLIENT}`, 'Payees', 'BEN000001', 'Payee BEN000001'],
      ['/quotes', `?client_id=${CLIENT}`, 'Quotes', QUOTES[0] ?? '', `Quote ${QUOTES[0]}`],
      ['/files', '?mass_payment_status=Processed', 'Files', FILE, `File ${FILE}`],
    ] as const) {
      await open(path + filter);
      await page.getByRole('table', { name }).getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
    }
    await open(`/trades?client_id=${CLIENT}`);
    const whose = page.getByRole('table', { name: 'Trades' }).getByRole('row').nth(1);
    await whose.getByText('Ashdown').waitFor();
    await whose.getByRole('link', { name: CLIENT, exact: true }).waitFor();
    await open('/accounts');
    await page.getByLabel('Client', { exact: true }).fill(CLIENT);
    await button('Filter').click();
    await page.waitForURL(/client_id=CLI000001/);
    const own = page.getByRole('table', { name: 'Currency accounts' }).getByRole('row');
    await own.filter({ hasText: 'GBP' }).first().waitFor();
    assert.equal(await own.count(), 4);
    await open('/payments');
    await page.getByText('Give a client, a payment id, a reference or a UETR.').waitFor();
    // A name or an email stands in no address, so no list takes one.
    await open('/clients');
    assert.deepEqual(await page.locator('main input').count(), 0);
  });

  test('support finds why a file stopped, by what its client calls it', async () => {
    for (const text of [FILE, 'SUPPLIERS-48', 'MSG-48']) {
      await page.getByRole('searchbox', { name: 'Search' }).fill(text);
      await page.keyboard.press('Enter');
      await page.getByRole('main').getByRole('link', { name: FILE }).click();
      await page.getByRole('heading', { level: 1, name: `File ${FILE}` }).waitFor();
    }
    await page.getByText('The rate has moved: the exchanges cost 9.10 GBP').waitFor();
    const failed = page.getByRole('table', { name: 'Rows that failed' }).getByRole('row');
    await failed.getByText('The IBAN is not valid · iban: the check digits do not match', { exact: true }).waitFor();
    // In the person's language, like the client's own page.
    const colleague = await browser.open();
    await colleague.addInitScript("localStorage.setItem('lombard.language', 'de')");
    await open(`/files/${FILE}`, colleague);
    await colleague.locator('[name=token]').fill(service.operatorToken);
    await colleague.keyboard.press('Enter');
    await colleague.getByText('iban: Das ist keine gültige IBAN', { exact: true }).waitFor();
    await colleague.getByText('Der Kurs ist schlechter geworden').waitFor();
    await colleague.context().close();
  });

  test('codes are words', async () => {
    await open('/audit');
    await page.getByText('The sandbox’s demonstration').first().waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    for (const code of ['service:', 'staff_session', 'operator:']) assert.ok(!text.includes(code), code);
    // The kind of a record is chosen by its word; a link that names another one still filters.
    const kind = page.getByLabel('Entity', { exact: true });
    await kind.selectOption({ label: 'Payment file' });
    await button('Filter').click();
    await page.waitForURL(/entity=mass_payment/);
    await open('/audit?entity=unheard_of');
    assert.equal(await kind.inputValue(), 'unheard_of');
    await open('/contacts/CON000003');
    await page.getByRole('cell', { name: 'Approve payments', exact: true }).waitFor();
  });

  test('a payment shows who ordered it, and what they gave with it', async () => {
    await open(`/payments/${heldPayment}`);
    const facts = page.locator('.facts').first();
    for (const [name, value] of [
      ['Source', 'Client'],
      ['Reason for the order', 'Payment for goods'],
      ['Paid from account', '1'],
      ['Place in the order', '1'],
    ] as const)
      await facts.locator('div').filter({ hasText: name }).getByText(value, { exact: true }).waitFor();
    await facts.getByRole('link', { name: /^TRD/ }).click();
    await page.getByRole('table', { name: 'Payments' }).getByRole('link', { name: heldPayment }).waitFor();
  });
});

describe('a client', { skip }, () => {
  test('its limit of the day is set, with what is used of it', async () => {
    await open(`/clients/${CLIENT}`);
    const limit = section('Daily limit');
    await limit.getByText('No limit').waitFor();
    await act('Set daily limit', 'as agreed', {
      fill: async (dialog) => {
        await dialog.getByLabel('Daily limit').fill('50000.50');
        await dialog.getByLabel('Currency').fill('GBP');
        await assertAccessible(page);
      },
    });
    await limit.getByText('GBP 50,000.50').waitFor();
    const { body: use } = await service.operator('GET', `/clients/${CLIENT}/daily-use`);
    // The order of the demonstration is some minutes old. Soon after midnight it is of the day before.
    const { body: order } = await service.operator('GET', `/payments/${heldPayment}`);
    const ofToday = londonDay(new Date(order.created_date)) === use.day;
    assert.equal(use.orders.length, ofToday ? 1 : 0, JSON.stringify(use));
    assert.equal(use.used > 1_000, ofToday, JSON.stringify(use));
    assert.equal((await lastAudit(`entity=client&entity_id=${CLIENT}`)).reason, 'as agreed');
  });

  test('its pricing is set, pair by pair and currency by currency', async () => {
    await open(`/clients/${CLIENT}`);
    await act('Set pricing', 'a good customer', {
      fill: async (dialog) => {
        await dialog.getByLabel('Spread, in 0.01 %').fill('30');
        await button('Add', dialog.getByRole('group', { name: 'Spreads of pairs' })).click();
        const pair = dialog.getByRole('group', { name: 'Spreads of pairs 1' });
        await pair.getByLabel('Sells').fill('GBP');
        await pair.getByLabel('Buys').fill('EUR');
        await pair.getByLabel('Spread, in 0.01 %').fill('20');
        await button('Add', dialog.getByRole('group', { name: 'Allowed currencies' })).click();
        const currency = dialog.getByRole('group', { name: 'Allowed currencies 1' });
        await currency.getByLabel('Currency').fill('EUR');
        await currency.getByLabel('May pay').selectOption('false');
        await assertAccessible(page);
      },
    });
    await section('Pricing').getByRole('table', { name: 'Allowed currencies' }).getByText('EUR').waitFor();
    const { body } = await service.operator('GET', `/clients/${CLIENT}/pricing`);
    assert.deepEqual(body, {
      ...{ client_id: CLIENT, spread_bps: 30, default_currency: null },
      spreads: [{ sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 20 }],
      currencies: [{ currency: 'EUR', buy_allowed: true, sell_allowed: true, pay_allowed: false }],
    });
    // What the service refuses stands in the dialog, and nothing is lost.
    await button('Set pricing').click();
    const dialog = page.getByRole('dialog', { name: 'Set pricing' });
    await dialog.getByLabel('Offered first').fill('ZZZ');
    await dialog.getByLabel('Reason').fill('wrong');
    await button('Set pricing', dialog).click();
    await dialog.getByRole('alert').getByText('default_currency').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  test('its quotes say why they ended', async () => {
    const quotes = section('Quotes').getByRole('row');
    await quotes
      .filter({ hasText: QUOTES[0] as string })
      .getByRole('link', { name: 'TRD000001' })
      .waitFor();
    await quotes
      .filter({ hasText: QUOTES[1] as string })
      .getByText('Can be booked until')
      .waitFor();
    await quotes
      .filter({ hasText: QUOTES[2] as string })
      .getByText('Nobody booked it before')
      .waitFor();
  });

  test('an overdue hold needs attention, with what to do, and is released with a reason', async () => {
    await service.query(`update holds set executed_at = now() - interval '2 hours'`);
    await open('');
    await page.getByText('Look for the debit in the core.').waitFor();
    await page.getByRole('link', { name: '1 hold waits for its debit' }).click();
    await page.getByRole('table', { name: 'Holds' }).getByRole('link', { name: heldPayment }).waitFor();
    await assertAccessible(page);
    await act('Release hold', 'paid by hand');
    await page.getByText('Nothing here').waitFor();
    const { reason, after: changed } = await lastAudit(`entity=payment&entity_id=${heldPayment}`);
    assert.deepEqual([reason, changed.hold_released], ['paid by hand', true]);
    await open(`/holds?client_id=${CLIENT}`);
    await page.getByText('released by staff').waitFor();
  });

  test('what needs a scope is not offered without it', async () => {
    const { body } = await service.operator('POST', '/operator-tokens', { name: 'desk', role: 'support' });
    const other = await browser.open();
    await signIn(other, body.token);
    for (const path of [`/clients/${CLIENT}`, '/settings', '/clients', '/applications', '/accounts', '/holds']) {
      await open(path, other);
      await other.getByRole('heading', { level: 1 }).waitFor();
      await other.locator('.loading').first().waitFor({ state: 'detached' });
      for (const name of ['Change', 'Set pricing', 'Set daily limit', 'New contact', 'Release hold', 'New application'])
        assert.equal(await button(name, other).count(), 0, `${path} ${name}`);
      assert.equal(await other.getByRole('link', { name: 'New client' }).count(), 0);
    }
    assertQuiet(other);
    await other.context().close();
  });
});

describe('settings', { skip }, () => {
  test('pricing, points, currencies, schemes and account details are set, each with its reason', async () => {
    await open('/settings');
    await act('Set pricing', 'calm market', {
      fill: (dialog) => dialog.getByLabel('Spread, in 0.01 %').first().fill('55'),
    });
    assert.equal((await service.operator('GET', '/pricing')).body.default_spread_bps, 55);
    await act('Set forward points', 'new curve', {
      fill: async (dialog) => {
        await dialog.getByLabel('Sells').fill('GBP');
        await dialog.getByLabel('Buys').fill('USD');
        await button('Add', dialog).click();
        await dialog.getByLabel('Days').fill('30');
        await dialog.getByRole('group', { name: 'Points 1' }).getByLabel('Points').fill('-0.00120');
      },
    });
    await page.getByText('30 days: -0.0012').waitFor();
    await act('Set currency', 'bank holiday', {
      within: page.getByRole('row').filter({ hasText: 'Europe/Berlin' }),
      fill: async (dialog) => {
        await dialog.getByLabel('Smallest exchange').fill('10.50');
        await dialog.getByLabel('Cut-off').fill('14:30');
      },
    });
    await page.getByText('14:30 Europe/Berlin').waitFor();
    const { body: euro } = await service.operator('GET', '/currencies/EUR');
    assert.deepEqual([euro.minimum, euro.weekend, euro.cutoff_days], [10.5, [6, 7], 2]);
    assert.equal((await lastAudit('entity=currency&entity_id=EUR')).reason, 'bank holiday');
    await act('Set schemes', 'no more ACH', {
      fill: async (dialog) => {
        const rules = dialog.getByRole('group', { name: /^Rules \d/ });
        const before = await rules.count();
        await button('Remove', rules.last()).click();
        await rules.nth(before - 2).waitFor();
        assert.equal(await rules.count(), before - 1);
      },
    });
    await until(async () => (await service.operator('GET', '/payment-schemes')).body.rules.length === 5);
    await act('New account details', 'new bank', {
      fill: async (dialog) => {
        await dialog.getByLabel('Client', { exact: true }).fill(CLIENT);
        await dialog.getByLabel('Currency').fill('CHF');
        await dialog.getByLabel('Bank country, as GB').fill('CH');
        await dialog.getByLabel('Bank', { exact: true }).fill('Zürcher Bank');
        await dialog.getByLabel('Account holder').fill('Lombard');
        const abroad = dialog.getByRole('group', { name: 'For payments from abroad', exact: true });
        await button('Add', abroad).click();
        await abroad.getByLabel('Account', { exact: true }).fill('CH9300762011623852957');
        await assertAccessible(page);
      },
    });
    await page.getByText('Zürcher Bank').waitFor();
    await act('Change', 'typing error', {
      within: page.getByRole('row').filter({ hasText: 'Zürcher Bank' }),
      fill: (dialog) => dialog.getByLabel('Bank', { exact: true }).fill('Basler Bank'),
    });
    await page.getByText('Basler Bank').waitFor();
  });
});

describe('a new client', { skip }, () => {
  test('leads from client to contacts, application, pricing, limits, accounts, and the first sign-in', async () => {
    await open('/clients');
    await page.getByRole('link', { name: 'New client' }).click();
    await page.getByRole('heading', { level: 1, name: 'New client' }).waitFor();
    // By keyboard alone.
    await tabTo(page, 'Create client');
    await page.keyboard.press('Enter');
    const create = page.getByRole('dialog', { name: 'Create client' });
    await create.waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type('Übersee <Handel> GmbH');
    await tabTo(page, 'Reason');
    await page.keyboard.type('contract 12');
    await tabTo(page, 'Create client');
    await page.keyboard.press('Enter');
    await page.waitForURL(/client_id=/);
    const client = new URL(page.url()).searchParams.get('client_id') as string;
    const record = (await service.operator('GET', `/clients/${client}`)).body;
    assert.deepEqual(
      [record.client_name, record.authorisation_workflow, record.payment_approvals_enabled],
      ['Übersee <Handel> GmbH', '4-eyes', true],
    );
    // The reason of the first step begins those of the others.
    await button('New contact').click();
    const contact = page.getByRole('dialog', { name: 'New contact' });
    await contact.getByLabel('Name', { exact: true }).fill('Uma Held');
    await contact.getByLabel('Email').fill('uma@uebersee.example');
    await contact.getByLabel('exchange money').check();
    assert.equal(await contact.getByLabel('Reason').inputValue(), 'contract 12');
    await assertAccessible(page);
    await button('New contact', contact).click();
    const row = page.getByRole('row').filter({ hasText: 'Uma Held' });
    await row.getByText('create payments, exchange money').waitFor();
    await act('New application', 'contract 12', {
      fill: async (dialog) => {
        await dialog.getByLabel('Name', { exact: true }).fill('Treasury');
        await dialog.getByLabel('Redirect addresses').fill('https://treasury.example/callback');
      },
    });
    await page.getByText('The secret, shown only now:').waitFor();
    const money = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: /^4\. / }) });
    const isDone = money.getByText('Done', { exact: true });
    assert.equal(await isDone.count(), 0);
    await act('Set daily limit', 'contract 12', {
      fill: (dialog) => dialog.getByLabel('Daily limit').fill('1000'),
    });
    await section('Daily limit').getByText('GBP 1,000.00').waitFor();
    await isDone.waitFor();
    await act('Set pricing', 'contract 12', {
      fill: async (dialog) => {
        await dialog.getByLabel('Spread, in 0.01 %').fill('40');
        for (const [place, currency] of [
          [1, 'GBP'],
          [2, 'EUR'],
        ] as const) {
          await button('Add', dialog.getByRole('group', { name: 'Allowed currencies', exact: true })).click();
          const row = dialog.getByRole('group', { name: `Allowed currencies ${place}` });
          await row.getByLabel('Currency').fill(currency);
        }
        await dialog.getByLabel('Offered first').fill('EUR');
      },
    });
    // The currencies that it may use are suggested, and one that has an account is passed over.
    const accounts = page.getByRole('table', { name: 'Currency accounts' }).getByRole('row');
    for (const [also, opened] of [
      ['', '2 accounts opened: GBP, EUR'],
      ['usd\neur', 'Account opened: USD'],
    ] as const) {
      await act('New currency accounts', 'contract 12', {
        fill: async (dialog) => {
          const currencies = dialog.getByLabel('Currencies');
          assert.equal(await currencies.inputValue(), also === '' ? 'GBP\nEUR' : '');
          if (also !== '') await currencies.fill(also);
        },
      });
      await page.getByRole('status').getByText(opened).waitFor();
    }
    await accounts.filter({ hasText: 'USD' }).waitFor();
    const { body: opened } = await service.operator('GET', `/currency-accounts?client_id=${client}`);
    assert.deepEqual(
      opened.map(({ currency }: { currency: string }) => currency),
      ['EUR', 'GBP', 'USD'],
    );
    assert.equal((await lastAudit(`entity=currency_account&client_id=${client}`)).reason, 'contract 12');
    await assertWellFormed(page);
    await assertAccessible(page);
    const first = page.getByRole('table', { name: 'First sign-in' }).getByRole('row').filter({ hasText: 'Uma Held' });
    await act('Send sign-in mail', 'contract 12', { within: first });
    await page.getByText('The mail is under way. Its link is good for three days.').waitFor();

    const mail = await until(async () => {
      const { body } = await service.operator('GET', '/mailbox');
      return body.find(({ to }: { to: string }) => to === 'uma@uebersee.example');
    });
    assert.match(mail.text, /Choose your password/);
    const person = await browser.open();
    await person.goto(/http\S+new-password\S+/.exec(mail.text)?.[0] as string);
    await person.locator('[name=password]').fill('a long enough password');
    await person.keyboard.press('Enter');
    await person.getByRole('heading', { level: 1, name: 'Your password is set' }).waitFor();
    assert.equal(await person.getByText('signed out everywhere').count(), 0, 'nobody was signed in');
    await person.getByRole('link').first().click();
    await person.locator('[name=email]').fill('uma@uebersee.example');
    await person.locator('[name=password]').fill('a long enough password');
    await person.keyboard.press('Enter');
    await person.getByRole('button', { name: 'Sign out' }).waitFor();
    await person.getByRole('link', { name: 'Accounts', exact: true }).click();
    for (const currency of ['EUR', 'GBP', 'USD'])
      await person
        .getByRole('table', { name: 'Accounts' })
        .getByRole('link', { name: currency, exact: true })
        .waitFor();
    await person.context().close();
  });
});

test('every page is accessible in both themes, fits 390 pixels, and complains of nothing', { skip }, async () => {
  const lists = [
    '/clients',
    '/contacts',
    '/applications',
    '/payees',
    '/payments',
    '/trades',
    '/accounts',
    '/holds',
    '/quotes',
    '/files',
  ];
  const filtered = [
    `/payments?client_id=${CLIENT}`,
    `/accounts?client_id=${CLIENT}`,
    `/new-client?client_id=${CLIENT}`,
  ];
  const { body: payees } = await service.operator('GET', '/beneficiaries?page_size=1');
  const ones = [
    `/clients/${CLIENT}`,
    '/applications/demo-app',
    '/trades/TRD000001',
    `/quotes/${QUOTES[0]}`,
    `/files/${FILE}`,
  ];
  for (const path of [
    ...lists,
    ...filtered,
    ...ones,
    `/payees/${payees[0].beneficiary_id}`,
    '/new-client',
    '/settings',
  ]) {
    await open(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('.loading').first().waitFor({ state: 'detached' });
    await assertWellFormed(page);
    await assertAccessible(page);
  }
  assertQuiet(page);
  for (const path of ['/applications/NOPE', '/trades/NOPE', '/quotes/NOPE', '/payees/NOPE'])
    assert.equal((await open(path))?.status(), 404, path);
});

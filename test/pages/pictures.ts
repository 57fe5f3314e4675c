/**
 * `npm run pictures` takes the pictures of the documentation again (docs/pictures), from the demonstration, in Chromium.
 * `npm run pictures -- DIRECTORY` puts pictures of every page there instead: 390, 1280 and 1920 px wide, light and dark, for whoever works
 * on the pages.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { startBrowser, type TestBrowser } from '../world/browser.ts';
import { REPOSITORY } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { until } from '../world/until.ts';

/** As in the demonstration. */
const PASSWORD = 'lombard-sandbox';
const CREATOR = 'ada@ashdown.example';
const APPROVER = 'chloe@ashdown.example';
const DESK = { width: 1_280, height: 800 };
const TALL = { width: 1_280, height: 1_120 };
const PHONE = { width: 390, height: 844 };
const WIDTHS_PX = [390, 1_280, 1_920];
/** Of WebP, 0 to 100: pictures stay below 150 kB. */
const QUALITY = 82;

/** On a machine that does much else. */
const MAX_DELIVERY_SECONDS = 90;

type Theme = 'light' | 'dark';

const APP_PAGES = [
  ...[
    '',
    '/payments',
    '/payments/PAY000421',
    '/payments/PAY000001',
    '/approvals',
    '/approvals?tab=others',
    '/approvals?tab=done',
  ],
  ...[
    '/approvals/settings',
    '/accounts',
    '/documents',
    '/payees',
    '/exchange',
    '/payments/new',
    '/files',
    '/trades',
    '/trades/TRD000001',
    '/webhooks',
    '/developers',
    '/profile',
    '/_components',
    '/none',
  ],
];
const CONSOLE_PAGES = [
  ...['', '/search', '/clients/CLI000001', '/contacts/CON000001', '/payments/PAY000421', '/payments/PAY000001'],
  ...[
    '/notifications',
    '/subscriptions',
    '/statements',
    '/imports',
    '/changes',
    '/requests',
    '/audit',
    '/tokens',
    '/system',
    '/settings',
    '/new-client',
    '/new-client?client_id=CLI000001',
  ],
  ...['/clients', '/contacts', '/applications', '/payees', '/payments', '/trades', '/quotes', '/files', '/holds'],
  ...[
    '/accounts?client_id=CLI000001',
    '/payments?client_id=CLI000001',
    '/trades/TRD000001',
    '/payees/BEN000001',
    '/applications/demo-app',
  ],
];

async function take(page: Page, path: string, theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {});
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await devtools.detach();
  writeFileSync(path, Buffer.from(data, 'base64'));
  process.stdout.write(`${path}\n`);
}

async function signedInToApp({ open }: TestBrowser, { addresses }: Sandbox, email: string): Promise<Page> {
  const page = await open({ viewport: DESK });
  await page.goto(`${addresses.api}/app`);
  await page.locator('[name=email]').fill(email);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  return page;
}

async function signedInToConsole({ open }: TestBrowser, { addresses, dataDir }: Sandbox): Promise<Page> {
  const page = await open({ viewport: DESK });
  await page.goto(`${addresses.operator}/console`);
  await page.locator('[name=token]').fill(readFileSync(join(dataDir, 'operator-token'), 'utf8').trim());
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  return page;
}

async function go(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/** A subscription with deliveries, so that the pages about them have something to show. */
async function subscribe(page: Page, { addresses, operator }: Sandbox, receiver: Receiver): Promise<void> {
  await go(page, `${addresses.api}/app/webhooks`);
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await click('New subscription');
  await page.getByLabel('PAYMENT_STATUS_CHANGE', { exact: true }).check();
  await page.getByLabel('URL').fill(receiver.url());
  await click('New subscription');
  await click('Done');
  for (const action of ['validate', 'send', 'complete'])
    await operator('POST', '/payments/PAY000421/actions', { action });
}

/** The pictures of README and docs/pages.md. */
async function forDocumentation(browser: TestBrowser, sandbox: Sandbox): Promise<void> {
  const { addresses, operator } = sandbox;
  const folder = join(REPOSITORY, 'docs', 'pictures');
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => join(folder, `${name}.webp`);
  const page = await signedInToApp(browser, sandbox, APPROVER);
  await page.setViewportSize(TALL);
  await go(page, `${addresses.api}/app`);
  await page.locator('.plot').first().waitFor();
  await take(page, file('home'), 'light');
  await page.setViewportSize(DESK);
  await go(page, `${addresses.api}/app/approvals`);
  for (const box of (await page.getByRole('checkbox', { name: /^Select PAY/ }).all()).slice(0, 3)) await box.check();
  await take(page, file('approvals'), 'light');
  await page.setViewportSize(PHONE);
  await take(page, file('approvals-phone'), 'light');
  await go(page, `${addresses.api}/app/payments/PAY000421`);
  await take(page, file('payment-phone'), 'light');
  await page.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await take(page, file('approve-phone'), 'dark');
  await page.getByRole('button', { name: 'Approve payment', exact: true }).click();
  await page.getByText('The payment goes on.').waitFor();
  const creator = await signedInToApp(browser, sandbox, CREATOR);
  const receiver = await Receiver.start((_request, response) => void response.end('thanks'));
  try {
    await subscribe(creator, sandbox, receiver);
    const console = await signedInToConsole(browser, sandbox);
    const delivered = '/notifications?payment_id=PAY000421&status=delivered';
    await until(async () => (await operator('GET', delivered)).length > 0, { seconds: MAX_DELIVERY_SECONDS });
    await go(console, `${addresses.operator}/console/payments/PAY000421`);
    await console.setViewportSize(TALL);
    await take(console, file('console-payment'), 'light');
  } finally {
    await receiver.stop();
  }
  await operator('POST', '/payments/PAY000422/actions', { action: 'cancel', reason: 'Ordered twice' });
  await go(creator, `${addresses.api}/app/payments/PAY000415`);
  await take(creator, file('payment'), 'dark');
}

/** Every page, at each width, in both themes. */
async function ofEveryPage(browser: TestBrowser, { addresses, ...sandbox }: Sandbox, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const whole = { addresses, ...sandbox };
  const sets = [
    [await signedInToApp(browser, whole, CREATOR), `${addresses.api}/app`, APP_PAGES],
    [await signedInToConsole(browser, whole), `${addresses.operator}/console`, CONSOLE_PAGES],
  ] as const;
  for (const [page, base, paths] of sets)
    for (const path of paths) {
      await page.setViewportSize(DESK);
      await go(page, base + path);
      for (const width of WIDTHS_PX)
        for (const theme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 });
          const name = `${new URL(base + path).pathname}${path.split('?')[1] ?? ''}`.replace(/\W+/g, '-').slice(1);
          await take(page, join(folder, `${name}-${width}-${theme}.webp`), theme);
        }
    }
}

const [directory] = process.argv.slice(2);
const sandbox = await startSandbox();
const browser = await startBrowser();
try {
  if (directory === undefined) await forDocumentation(browser, sandbox);
  else await ofEveryPage(browser, sandbox, resolve(directory));
} finally {
  await browser.close();
  await sandbox.stop();
}

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { removeWithTests } from './leftovers.ts';
import type { TestService } from './service.ts';
import { PASSWORD } from './visitor.ts';

/** A browser for page tests. Start one per file, and give each person a separate context. */

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** For `test(name, { skip }, ...)`. */
export const skip: string | false = CHROMIUM === undefined && 'no Chromium on this machine';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];
const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** What a browser logs about error answers that a test provokes, and about a connection that it cuts. */
const EXPECTED = /status of [45]\d\d|ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/;

/** A running browser. Each context has its own cookies. */
export interface TestBrowser {
  browser: Browser;
  /**
   * A page of a new context. The test fails if the browser complains about a script, a style or the policy, or if a request leaves the
   * service.
   */
  open(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
}

export async function startBrowser(): Promise<TestBrowser> {
  const profile = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-chromium-')));
  const browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    args: FLAGS,
    env: { ...process.env, HOME: profile },
  });
  return {
    browser,
    open: async (options = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/London', ...options });
      const page = await context.newPage();
      complaints.set(page, watch(context));
      return page;
    },
    close: async () => {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

const complaints = new WeakMap<Page, string[]>();

function watch(context: BrowserContext): string[] {
  const found: string[] = [];
  context.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) found.push(message.text());
  });
  context.on('weberror', (error) => found.push(String(error.error())));
  context.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol.startsWith('http') && !['127.0.0.1', 'localhost'].includes(hostname)) found.push(request.url());
  });
  return found;
}

/** Fails if the browser has complained about anything since the page was opened. */
export function assertQuiet(page: Page): void {
  assert.deepEqual(complaints.get(page), []);
}

/** Opens a page of the clients' application, signing in on the way. @param path including `/app` */
export async function signInTo(
  page: Page,
  service: TestService,
  person: { email: string },
  path = '/app',
): Promise<void> {
  await page.goto(service.api + path);
  await page.locator('[name=email]').fill(person.email);
  await page.locator('[name=password]').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
}

/** Fails with whatever axe finds on the current page (WCAG 2.2 AA), in the light and the dark theme. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    assert.deepEqual(await axeFindings(page), [], `${page.url()} (${colorScheme})`);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

async function axeFindings(page: Page): Promise<string[]> {
  // The policy forbids scripts in the page, but the debugger may still evaluate them.
  await page.evaluate(AXE_SOURCE);
  return page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`);
}

/** Window widths: 1,280 px at 400 % and 200 % zoom (WCAG 2.2, 1.4.10 and 1.4.4) and at 100 %, a phone, and the widest. */
const WIDTHS_PX = [320, 640, 1_280, 390, 2_560];
/**
 * Fails if a page scrolls sideways or hides part of a control at any of the widths. Also fails unless it has exactly one `h1`, one `main`
 * and a title.
 */
export async function assertWellFormed(page: Page, ...widths: number[]): Promise<void> {
  const before = page.viewportSize();
  for (const width of widths.length > 0 ? widths : WIDTHS_PX) await assertFits(page, width);
  if (before) await page.setViewportSize(before);
}

async function assertFits(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 800 });
  const seen = await page.evaluate(`(() => {
    const isOutside = (each) => {
      const { left, right, width } = each.getBoundingClientRect();
      return width > 1 && (left < -1 || right > innerWidth + 1);
    };
    // What a line scrolls to by itself is not lost.
    const scrolls = (each) => each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX === 'auto' && !isOutside(each);
    const isCut = (each) => isOutside(each) && !(each.parentElement && scrolls(each.parentElement));
    const cut = [...document.querySelectorAll('a, button, input, select, textarea, summary')].filter(isCut);
    return { wide: document.documentElement.scrollWidth, h1: document.querySelectorAll('h1').length,
      main: document.querySelectorAll('main').length, title: document.title !== '', cut: cut.map((each) => each.outerHTML) };
  })()`);
  assert.deepEqual(seen, { wide: width, h1: 1, main: 1, title: true, cut: [] }, `${page.url()} at ${width} px`);
}

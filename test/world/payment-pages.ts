import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { ApprovalsWorld, Person } from './approvals.ts';
import type { TestBrowser } from './browser.ts';
import { pageSession } from './page-session.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';
import { cookieOf } from './visitor.ts';

/** What tests of the pages of payments do again and again. */

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const row = (page: Page, id: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: id, exact: true }) });
export const choice = (page: Page, id: string) => page.getByRole('checkbox', { name: `Select ${id}`, exact: true });

/** Pages of a service in a browser. Both are there once the tests run. */
export function paymentPages(started: () => { service: TestService; browser: TestBrowser | undefined }) {
  /** Opens a page of the application, in the client of the world. */
  const go = async (page: Page, world: ApprovalsWorld, path: string): Promise<void> => {
    await page.goto(`${started().service.api}/app${path}${path.includes('?') ? '&' : '?'}client_id=${world.clientId}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  /** The code of the newest text message, if there is any. */
  const newestCode = async () =>
    /\b(\d{6})\b/.exec((await started().service.operator('GET', '/text-messages')).body[0]?.text ?? '')?.[1];
  return {
    go,
    newestCode,
    /** A page of a person who is signed in already. */
    open: async (
      person: Person,
      world: ApprovalsWorld,
      path: string,
      viewport = { width: 1280, height: 900 },
    ): Promise<Page> => {
      const { service, browser } = started();
      const page = await (browser as TestBrowser).open({ viewport });
      const { cookies } = await pageSession(service, person.id);
      const name = cookieOf(service, 'app');
      await page.context().addCookies([{ name, value: cookies.get(name) as string, url: service.api }]);
      page.on('dialog', () => assert.fail('a script of somebody else runs'));
      await go(page, world, path);
      return page;
    },
    /** The newest code once it is another one than before. */
    codeAfter: (before?: string) =>
      until(async () => {
        const code = await newestCode();
        return code === before ? undefined : code;
      }),
  };
}

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Uses a page with the keyboard only. */

/** The most Tab presses from the top of the longest page to its end. */
const MAX_TABS = 80;

/** The focused element: its accessible name, and whether a person can see the focus. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const named = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  // Behind the last control is the browser's own, and then the page begins again.
  if (element === document.body) return { name: '', isSeen: true };
  const { left, top, width, height } = element.getBoundingClientRect();
  const over = document.elementFromPoint(left + width / 2, top + height / 2);
  const isOnTop = over !== null && (element.contains(over) || over.contains(element));
  return { name: named.trim(), isSeen: outlineStyle !== 'none' && outlineWidth !== '0px' && isOnTop };
})()`;

interface Focused {
  name: string;
  isSeen: boolean;
}

/** Presses Tab until the control with this name has the focus. Fails if the focus is invisible on the way (WCAG 2.2, 2.4.7 and 2.4.11). */
export async function tabTo(page: Page, name: string): Promise<void> {
  const look = () => page.evaluate(FOCUSED) as Promise<Focused>;
  if ((await look()).name === name) return;
  const passed: string[] = [];
  for (let presses = 0; presses < MAX_TABS; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = await look();
    assert.ok(focused.isSeen, `${page.url()}: nobody sees that \`${focused.name}\` has the focus`);
    if (focused.name === name) return;
    passed.push(focused.name);
  }
  assert.fail(`${page.url()}: Tab never comes to \`${name}\`, only to ${passed.join(', ')}`);
}

/** Waits until an element with this text has the focus. */
export async function focusOn(page: Page, text: string): Promise<void> {
  await page.locator(':focus').filter({ hasText: text }).waitFor();
}

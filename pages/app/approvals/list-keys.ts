import { useEffect, useEffectEvent } from 'react';

/** What the keyboard shortcuts do; `row` is the id of the payment whose line has the focus. */
export interface ListActs {
  next: () => void;
  previous: () => void;
  select: (row: string) => void;
  approve: (row: string | undefined) => void;
  reject: (row: string) => void;
  help: () => void;
}

/** Kept until the document ends: browser storage must hold nothing like it. */
let areOn = true;

/** Whether the shortcuts work. People who dictate, or press keys by accident, can switch them off (WCAG 2.2, 2.1.4). */
export const listKeys = {
  areOn: (): boolean => areOn,
  set: (on: boolean): void => {
    areOn = on;
  },
};

/** Handles the keys j, k, x, a, r and ?, but not in dialogs or text fields. */
export function useListKeys(acts: ListActs): void {
  const act = useEffectEvent((event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const isWriting = target.closest('select, textarea, input:not([type="checkbox"]), [role="combobox"]') !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting || document.querySelector('.dialog')) return;
    if (event.key === '?') {
      acts.help();
      return event.preventDefault();
    }
    if (!areOn) return;
    const row = rowOf(target);
    const key = event.key.toLowerCase();
    if (key === 'j') acts.next();
    else if (key === 'k') acts.previous();
    else if (key === 'x' && row) acts.select(row);
    else if (key === 'a') acts.approve(row);
    else if (key === 'r' && row) acts.reject(row);
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => act(event);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

const LINKS = '.approval-list td[data-key="payment_id"] a';

/** The payment of the line that contains an element. */
function rowOf(element: Element): string | undefined {
  return element.closest('tr')?.querySelector('td[data-key="payment_id"] a')?.textContent ?? undefined;
}

/** Moves the focus to the link of the next or previous line; from elsewhere, to the first or last one. @param by 1 or -1 */
export function moveInList(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(LINKS)];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at < 0 ? (by === 1 ? 0 : links.length - 1) : at + by;
  links[next]?.focus();
}

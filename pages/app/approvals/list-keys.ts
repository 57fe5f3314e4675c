import { useEffect, useEffectEvent } from 'react';

/** What the keys of the list do; `row` is the id of the payment whose line has the focus. */
export interface ListActs {
  next: () => void;
  previous: () => void;
  select: (row: string) => void;
  approve: (row: string | undefined) => void;
  reject: (row: string) => void;
  help: () => void;
}

/** Until the document ends: nothing of the kind may be in the browser's storage. */
let areOn = true;

/** Whether the keys work: whoever dictates or presses keys by accident switches them off (WCAG 2.2, 2.1.4). */
export const listKeys = {
  areOn: (): boolean => areOn,
  set: (on: boolean): void => {
    areOn = on;
  },
};

/** Follows the keys j, k, x, a, r and ?, but not in dialogs and where one writes. */
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

/** The payment of the line that an element stands in. */
function rowOf(element: Element): string | undefined {
  return element.closest('tr')?.querySelector('td[data-key="payment_id"] a')?.textContent ?? undefined;
}

/** Moves the focus to the link of the next line, or the one before; from elsewhere to the first or the last one. @param by 1 or -1 */
export function moveInList(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(LINKS)];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at < 0 ? (by === 1 ? 0 : links.length - 1) : at + by;
  links[next]?.focus();
}

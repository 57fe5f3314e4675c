import { useEffect } from 'react';

/**
 * Where what has the focus leaves the page or is switched off, the browser lets the focus fall back to the document: whoever works by
 * keyboard or hears the page begins at its top again. Here it goes back to what opened the dialog that was closed. Where that is gone too,
 * it goes to the result of the act that the page shows, or else to the heading.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined;
    /** What had the focus last outside of dialogs. */
    let opener: Element | undefined;
    const isLost = () => last !== undefined && !isUsable(last);
    const remember = ({ target }: FocusEvent) => {
      last = target as Element;
      if (!last.closest('.dialog')) opener = last;
    };
    // Somebody has put it down, by a click beside it: nothing is to be brought back.
    const forget = ({ target }: FocusEvent) =>
      requestAnimationFrame(() => {
        if (last === target && !isLost() && document.activeElement === document.body) last = undefined;
      });
    // React Aria moves the focus first, where it still can.
    const look = () => isLost() && requestAnimationFrame(() => requestAnimationFrame(bringBack));
    const bringBack = () => {
      const { activeElement: active } = document;
      const isElsewhere = active !== null && active !== document.body && isUsable(active);
      if (!isLost() || isElsewhere || document.querySelector('.dialog')) return;
      const result = document.querySelector('main [role=status]:has(.notice)') ?? document.querySelector('h1');
      const next = opener && isUsable(opener) ? opener : result;
      // What cannot take it yet, because React Aria lets go of the page only now, is asked again at the next change.
      if (next instanceof HTMLElement) next.focus();
    };
    const changes = new MutationObserver(look);
    const attributeFilter = ['disabled', 'inert'];
    changes.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', forget);
    return () => {
      changes.disconnect();
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', forget);
    };
  }, []);
}

function isUsable(element: Element): boolean {
  return element.isConnected && !element.matches(':disabled');
}

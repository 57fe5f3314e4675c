import { useEffect } from 'react';

/**
 * Where what has the focus leaves the page or is switched off, the browser lets the focus fall back to the document: whoever works by
 * keyboard or hears the page begins at its top again. Here it goes to the result of the act that the page shows, or else to the heading.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined;
    const isLost = () => last !== undefined && (!last.isConnected || last.matches(':disabled'));
    const remember = ({ target }: FocusEvent) => {
      last = target as Element;
    };
    // Somebody has put it down, by a click beside it: nothing is to be brought back.
    const forget = ({ target }: FocusEvent) =>
      requestAnimationFrame(() => {
        if (last === target && !isLost() && document.activeElement === document.body) last = undefined;
      });
    // A dialog that closes gives the focus back itself, one frame later.
    const look = () => isLost() && requestAnimationFrame(() => requestAnimationFrame(bringBack));
    const bringBack = () => {
      const { activeElement } = document;
      const has = activeElement !== null && activeElement !== document.body && !activeElement.matches(':disabled');
      if (!isLost() || has || document.querySelector('.dialog')) return;
      last = undefined;
      (document.querySelector<HTMLElement>('main [role=status]:has(.notice)') ?? document.querySelector('h1'))?.focus();
    };
    const changes = new MutationObserver(look);
    changes.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
    document.addEventListener('focusin', remember);
    document.addEventListener('focusout', forget);
    return () => {
      changes.disconnect();
      document.removeEventListener('focusin', remember);
      document.removeEventListener('focusout', forget);
    };
  }, []);
}

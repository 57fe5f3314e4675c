import { useEffect } from 'react';

/**
 * If the focused element is removed or disabled, browsers move the focus to the document, and keyboard and screen reader users start at the
 * top. This returns the focus to what opened the closed dialog. If that is gone too, it goes to the page's result message, or else to the
 * heading.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined;
    /** The last focused element outside dialogs. */
    let opener: Element | undefined;
    const isLost = () => last !== undefined && !isUsable(last);
    const remember = ({ target }: FocusEvent) => {
      last = target as Element;
      if (!last.closest('.dialog')) opener = last;
    };
    // A click outside has dropped the focus on purpose: nothing is to be restored.
    const forget = ({ target }: FocusEvent) =>
      requestAnimationFrame(() => {
        if (last === target && !isLost() && document.activeElement === document.body) last = undefined;
      });
    // React Aria moves the focus first, if it still can.
    const look = () => isLost() && requestAnimationFrame(() => requestAnimationFrame(bringBack));
    const bringBack = () => {
      const { activeElement: active } = document;
      const isElsewhere = active !== null && active !== document.body && isUsable(active);
      if (!isLost() || isElsewhere || document.querySelector('.dialog')) return;
      const result = document.querySelector('main [role=status]:has(.notice)') ?? document.querySelector('h1');
      const next = opener && isUsable(opener) ? opener : result;
      // An element may not be focusable yet, because React Aria is still releasing the page. The next change tries again.
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

import { type RefObject, useLayoutEffect } from 'react';

/**
 * Scrolls a line of tabs sideways until the chosen one is in sight, also after the window has changed its size. The page itself does not
 * move.
 * @param chosen the selector of the chosen tab
 * @param id which tab that is
 */
export function useChosenInSight(line: RefObject<HTMLElement | null>, chosen: string, id: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab stands elsewhere
  useLayoutEffect(() => {
    const element = line.current;
    if (!element) return;
    const watcher = new ResizeObserver(() => showIn(element, element.querySelector(chosen)));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [line, chosen, id]);
}

function showIn(line: HTMLElement, tab: Element | null): void {
  if (!tab) return;
  const around = line.getBoundingClientRect();
  const { left, right } = tab.getBoundingClientRect();
  if (left < around.left) line.scrollLeft -= around.left - left;
  else if (right > around.right) line.scrollLeft += right - around.right;
}

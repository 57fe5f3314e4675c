import type { AnyRouter, ParsedLocation } from '@tanstack/react-router';

/**
 * Shows another page from its top, and a page that one goes back to where it was scrolled to. The places are in memory. The router would
 * keep them in the browser's storage, where nothing of the kind may be (the pages in the browser, 1).
 */
export function keepScroll(router: AnyRouter): void {
  const places = new Map<string, number>();
  const keyOf = ({ state, href }: ParsedLocation) => state.__TSR_key ?? href;
  // While the document lives, nobody else scrolls; a document that is loaded again is scrolled by the browser.
  history.scrollRestoration = 'manual';
  addEventListener('pagehide', () => {
    history.scrollRestoration = 'auto';
  });
  router.subscribe('onBeforeLoad', ({ fromLocation }) => {
    if (fromLocation) places.set(keyOf(fromLocation), scrollY);
  });
  router.subscribe('onRendered', ({ toLocation, pathChanged }) => {
    const place = places.get(keyOf(toLocation)) ?? (pathChanged ? 0 : undefined);
    if (place !== undefined) scrollTo({ top: place });
  });
}

import type { AnyRouter, ParsedLocation } from '@tanstack/react-router';

/**
 * Shows a new page from its top, and a page that the person goes back to at its former position. Positions are kept in memory. The router
 * would keep them in browser storage, where nothing may be stored (the pages in the browser, 1).
 */
export function keepScroll(router: AnyRouter): void {
  const places = new Map<string, number>();
  const keyOf = ({ state, href }: ParsedLocation) => state.__TSR_key ?? href;
  // Only this code scrolls while the document lives; after a reload the browser does.
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

import { createElement, type FunctionComponent, lazy, useState } from 'react';
import { hasShownPage } from './page.tsx';

/** A page whose module is loaded when it is needed, and beforehand by `preload`. */
export interface LazyPage extends FunctionComponent {
  preload: () => Promise<void>;
}

type Load = () => Promise<{ default: FunctionComponent }>;

/** The router's own one marks in the browser's storage that it has reloaded; nothing may be stored there (the pages in the browser, 1). */
export function lazyPage(load: Load): LazyPage {
  let loaded: FunctionComponent | undefined;
  const Loading = lazy(() => load().catch(reloadOnce));
  const Content: FunctionComponent = () => createElement(useState(() => loaded ?? Loading)[0]);
  const preload = () =>
    load().then(
      (module) => {
        loaded = module.default;
      },
      // Who opens the page is told.
      () => {},
    );
  return Object.assign(Content, { preload });
}

/**
 * A file that does not come may be of a build that was replaced: the document is loaded again, if the service answers. A document that has
 * shown no page yet is a new one and is not loaded again, so that this ends.
 */
async function reloadOnce(error: unknown): Promise<never> {
  const answer = hasShownPage() ? await fetch(location.href, { method: 'HEAD' }).catch(() => undefined) : undefined;
  if (!answer?.ok) throw error;
  location.reload();
  return new Promise<never>(() => {});
}

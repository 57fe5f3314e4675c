import { createElement, type FunctionComponent, lazy, useState } from 'react';
import { hasShownPage } from './page.tsx';

/** A page whose module is loaded when it is needed, or earlier by `preload`. */
export interface LazyPage extends FunctionComponent {
  preload: () => Promise<void>;
}

type Load = () => Promise<{ default: FunctionComponent }>;

/** The router's own version notes a reload in browser storage, where nothing may be stored (the pages in the browser, 1). */
export function lazyPage(load: Load): LazyPage {
  let loaded: FunctionComponent | undefined;
  const Loading = lazy(() => load().catch(reloadOnce));
  const Content: FunctionComponent = () => createElement(useState(() => loaded ?? Loading)[0]);
  const preload = () =>
    load().then(
      (module) => {
        loaded = module.default;
      },
      // The person is told when the page is opened.
      () => {},
    );
  return Object.assign(Content, { preload });
}

/**
 * A missing file may belong to a build that was replaced. If the service answers, the document is loaded again. A document that has not
 * shown a page yet is new and is not reloaded, so that this ends.
 */
async function reloadOnce(error: unknown): Promise<never> {
  const answer = hasShownPage() ? await fetch(location.href, { method: 'HEAD' }).catch(() => undefined) : undefined;
  if (!answer?.ok) throw error;
  location.reload();
  return new Promise<never>(() => {});
}

import { createRootRoute, createRoute, createRouter, retainSearchParams } from '@tanstack/react-router';
import type { FunctionComponent, ReactNode } from 'react';
import { queryText } from '../data/call.ts';
import { BrokenPage } from './broken-page.tsx';
import { lazyPage } from './lazy-page.ts';
import { NotFound } from './not-found.tsx';
import { keepScroll } from './scroll.ts';
import { parseSearch, type Search } from './search.ts';

/** A page: its path within the application, and the module whose default export draws it. `$name` is a parameter. */
export interface PageRoute {
  path: string;
  load: () => Promise<{ default: FunctionComponent }>;
  /** The page is drawn outside `around`, because it is not about a client. */
  alone?: true;
}

/**
 * The router of an application. Each page is its own file in the build. Links carry over the query parameters named in `kept`.
 * @param options `frame` is drawn once around all pages, `around` for each page
 */
export function createPageRouter(options: {
  basepath: string;
  frame: FunctionComponent;
  around?: FunctionComponent<{ children: ReactNode }>;
  pages: PageRoute[];
  kept: string[];
}) {
  const root = createRootRoute({
    component: options.frame,
    notFoundComponent: NotFound,
    validateSearch: (search: Search) => search,
    search: { middlewares: [retainSearchParams<Search>(options.kept)] },
  });
  const pages = options.pages.map(({ path, load, alone }) => {
    const Content = lazyPage(load);
    const Around = alone ? undefined : options.around;
    const component = Around
      ? () => (
          <Around>
            <Content />
          </Around>
        )
      : Content;
    return createRoute({
      getParentRoute: () => root,
      path,
      component: Object.assign(component, { preload: Content.preload }),
    });
  });
  const router = createRouter({
    routeTree: root.addChildren(pages),
    // Not `basepath`, which adds a trailing slash to the address of the first page.
    rewrite: {
      input: ({ url }) => {
        url.pathname = url.pathname.slice(options.basepath.length) || '/';
        return url;
      },
      output: ({ url }) => {
        url.pathname = options.basepath + (url.pathname === '/' ? '' : url.pathname);
        return url;
      },
    },
    parseSearch,
    stringifySearch: queryText,
    defaultErrorComponent: BrokenPage,
    defaultPreload: 'intent',
  });
  keepScroll(router);
  return router;
}

import type { PageRoute } from '../frame/router.tsx';

/** The pages of {operator_url}/console. The service knows the same ones: src/http/console/pages.ts. */
export const PAGES: PageRoute[] = [
  { path: '/', load: () => import('./home/home.tsx') },
  { path: '/search', load: () => import('./search/search.tsx') },
  { path: '/payments/$id', load: () => import('./payments/payment.tsx') },
  { path: '/clients/$id', load: () => import('./people/client.tsx') },
  { path: '/contacts/$id', load: () => import('./people/contact.tsx') },
  { path: '/notifications', load: () => import('./webhooks/notifications.tsx') },
  { path: '/subscriptions', load: () => import('./webhooks/subscriptions.tsx') },
  { path: '/statements', load: () => import('./feeds/statements.tsx') },
  { path: '/imports', load: () => import('./feeds/imports.tsx') },
  { path: '/changes', load: () => import('./feeds/changes.tsx') },
  { path: '/requests', load: () => import('./audit/requests.tsx') },
  { path: '/audit', load: () => import('./audit/audit.tsx') },
  { path: '/tokens', load: () => import('./system/tokens.tsx') },
  { path: '/system', load: () => import('./system/system.tsx') },
];

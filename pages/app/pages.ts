import type { PageRoute } from '../frame/router.tsx';

/** The pages of {base_url}/app. The service has the same list: src/http/app/pages.ts. */
export const PAGES: PageRoute[] = [
  { path: '/', load: () => import('./home/home.tsx') },
  { path: '/payments', load: () => import('./payments/payments.tsx') },
  { path: '/payments/new', load: () => import('./ordering/new-payment.tsx') },
  { path: '/payments/$payment_id', load: () => import('./payments/payment.tsx') },
  { path: '/payees', load: () => import('./payees/payees.tsx') },
  { path: '/exchange', load: () => import('./exchange/exchange.tsx') },
  { path: '/trades', load: () => import('./trades/trades.tsx') },
  { path: '/trades/$trade_id', load: () => import('./trades/trade.tsx') },
  { path: '/files', load: () => import('./files/files.tsx') },
  { path: '/files/$mass_payment_id', load: () => import('./files/file.tsx') },
  { path: '/approvals', load: () => import('./approvals/approvals.tsx') },
  { path: '/_components', load: () => import('./components/components.tsx'), alone: true },
  { path: '/profile', load: () => import('./profile/profile.tsx'), alone: true },
  { path: '/accounts', load: () => import('./accounts/accounts.tsx') },
  { path: '/accounts/$account_id', load: () => import('./accounts/account.tsx') },
  { path: '/accounts/currencies/$currency', load: () => import('./accounts/currency-account.tsx') },
  { path: '/approvals/settings', load: () => import('./approval-settings/settings.tsx') },
  { path: '/developers', load: () => import('./developers/developers.tsx') },
  { path: '/documents', load: () => import('./documents/documents.tsx') },
  { path: '/webhooks', load: () => import('./webhooks/webhooks.tsx') },
];

import { findBeneficiary } from '../../beneficiaries/beneficiary.ts';
import type { Db } from '../../database/database.ts';
import { findQuote } from '../../exchange/quote.ts';
import { findTrade } from '../../exchange/trade.ts';
import { findApplication } from '../../identity/applications/application.ts';
import { findClient } from '../../identity/people/client.ts';
import { findContact } from '../../identity/people/contact.ts';
import { findMassPayment } from '../../orders/mass/reading.ts';
import { findPaymentOwner } from '../../payments/payment.ts';
import { Problem } from '../../values/errors.ts';

/** Finds the record that a page shows. @throws Problem if it does not exist */
type Find = (db: Db, id: string) => Promise<unknown>;

/** A page: the module in pages/ that draws it, and how to find the record that its address names. */
interface ConsolePage {
  source: string;
  find?: Find;
}

/** The pages of the console, without `{operator_url}/console`. The part after a colon is looked up. */
export const CONSOLE_PAGES: Record<string, ConsolePage> = {
  '': { source: 'console/home/home.tsx' },
  '/search': { source: 'console/search/search.tsx' },
  '/payments/:id': {
    source: 'console/payments/payment.tsx',
    find: findPaymentOwner,
  },
  '/clients': { source: 'console/records/clients.tsx' },
  '/clients/:id': { source: 'console/clients/client.tsx', find: findClient },
  '/new-client': { source: 'console/clients/new-client.tsx' },
  '/contacts': { source: 'console/records/contacts.tsx' },
  '/applications': { source: 'console/records/applications.tsx' },
  '/applications/:id': { source: 'console/records/application.tsx', find: findApplication },
  '/payments': { source: 'console/records/payments.tsx' },
  '/trades': { source: 'console/records/trades.tsx' },
  '/trades/:id': { source: 'console/records/trade.tsx', find: (db, id) => findTrade(db, '', id) },
  '/quotes': { source: 'console/records/quotes.tsx' },
  '/quotes/:id': { source: 'console/records/quote.tsx', find: (db, id) => findQuote(db, id, new Date(0)) },
  '/files': { source: 'console/records/files.tsx' },
  '/files/:id': { source: 'console/records/file.tsx', find: (db, id) => findMassPayment(db, id) },
  '/payees': { source: 'console/records/payees.tsx' },
  '/payees/:id': { source: 'console/records/payee.tsx', find: findBeneficiary },
  '/accounts': { source: 'console/records/accounts.tsx' },
  '/holds': { source: 'console/records/holds.tsx' },
  '/settings': { source: 'console/settings/settings.tsx' },
  '/contacts/:id': { source: 'console/people/contact.tsx', find: findContact },
  '/notifications': { source: 'console/webhooks/notifications.tsx' },
  '/subscriptions': { source: 'console/webhooks/subscriptions.tsx' },
  '/statements': { source: 'console/feeds/statements.tsx' },
  '/imports': { source: 'console/feeds/imports.tsx' },
  '/changes': { source: 'console/feeds/changes.tsx' },
  '/requests': { source: 'console/audit/requests.tsx' },
  '/audit': { source: 'console/audit/audit.tsx' },
  '/tokens': { source: 'console/system/tokens.tsx' },
  '/system': { source: 'console/system/system.tsx' },
};

/** Whether the record of a page exists. */
export async function isThere(db: Db, find: Find | undefined, id: string | undefined): Promise<boolean> {
  if (!find || id === undefined) return true;
  try {
    await find(db, id);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

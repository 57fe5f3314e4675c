import { findAccount } from '../../accounts/account.ts';
import { listCurrencyAccounts } from '../../accounts/currency-account.ts';
import type { Db } from '../../database/database.ts';
import { readTradeFunds } from '../../exchange/client-trades.ts';
import { findMassPayment } from '../../orders/mass/reading.ts';
import { findPaymentOwner } from '../../payments/payment.ts';
import type { Config } from '../../settings/config.ts';
import { Problem } from '../../values/errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether one of the person's clients has the record that a page shows. */
type Exists = (db: Db, id: string, clientIds: string[]) => Promise<boolean>;

const payment: Exists = async (db, id, clientIds) => {
  const owner = await found(findPaymentOwner(db, id));
  return owner !== undefined && clientIds.includes(owner.client_id);
};
const trade: Exists = async (db, id, clientIds) => {
  const trades = await Promise.all(clientIds.map((clientId) => found(readTradeFunds(db, { clientId, tradeId: id }))));
  return trades.some((each) => each !== undefined);
};
const file: Exists = async (db, id, clientIds) => {
  const files = await Promise.all(clientIds.map((clientId) => found(findMassPayment(db, id, clientId))));
  return files.some((each) => each !== undefined);
};
const account: Exists = async (db, id, clientIds) => {
  if (!UUID.test(id)) return false;
  const accounts = await Promise.all(clientIds.map((clientId) => found(findAccount(db, clientId, id))));
  return accounts.some((each) => each !== undefined);
};

const currencyAccount: Exists = async (db, currency, clientIds) => {
  const held = await Promise.all(clientIds.map((clientId) => listCurrencyAccounts(db, clientId)));
  return held.flat().some((each) => each.currency === currency);
};

/** A page: the module in pages/ that draws it, and the check that its record exists. */
interface AppPage {
  source: string;
  exists?: Exists;
}

/** The pages of the application, without `{base_url}/app`. The part after a colon is checked. */
const PAGES: Record<string, AppPage> = {
  '': { source: 'app/home/home.tsx' },
  '/payments': { source: 'app/payments/payments.tsx' },
  '/payments/new': { source: 'app/ordering/new-payment.tsx' },
  '/payments/:id': { source: 'app/payments/payment.tsx', exists: payment },
  '/payees': { source: 'app/payees/payees.tsx' },
  '/exchange': { source: 'app/exchange/exchange.tsx' },
  '/trades': { source: 'app/trades/trades.tsx' },
  '/trades/:id': { source: 'app/trades/trade.tsx', exists: trade },
  '/files': { source: 'app/files/files.tsx' },
  '/files/:id': { source: 'app/files/file.tsx', exists: file },
  '/approvals': { source: 'app/approvals/approvals.tsx' },
  '/approvals/settings': { source: 'app/approval-settings/settings.tsx' },
  '/accounts': { source: 'app/accounts/accounts.tsx' },
  '/accounts/:id': { source: 'app/accounts/account.tsx', exists: account },
  '/accounts/currencies/:id': { source: 'app/accounts/currency-account.tsx', exists: currencyAccount },
  '/documents': { source: 'app/documents/documents.tsx' },
  '/webhooks': { source: 'app/webhooks/webhooks.tsx' },
  '/profile': { source: 'app/profile/profile.tsx' },
};
/** Pages that only a sandbox has. */
const SANDBOX_PAGES: typeof PAGES = {
  '/developers': { source: 'app/developers/developers.tsx' },
  '/_components': { source: 'app/components/components.tsx' },
};

/** The addresses of an environment's pages. */
export function pagesOf({ environment }: Pick<Config, 'environment'>): [string, AppPage][] {
  return Object.entries(environment === 'sandbox' ? { ...PAGES, ...SANDBOX_PAGES } : PAGES);
}

/** The record that was found; undefined if a Problem says that it does not exist. */
async function found<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

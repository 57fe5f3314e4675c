import { findAccount } from '../../accounts/account.ts';
import type { Config } from '../../config.ts';
import type { Db } from '../../database.ts';
import { Problem } from '../../errors.ts';
import type { PaymentId } from '../../identifiers.ts';
import { findPaymentOwner } from '../../payments/owner.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether one of the person's clients has what a page shows. */
type Exists = (db: Db, id: string, clientIds: string[]) => Promise<boolean>;

const payment: Exists = async (db, id, clientIds) => {
  const owner = await found(findPaymentOwner(db, id as PaymentId));
  return owner !== undefined && clientIds.includes(owner.client_id);
};
const account: Exists = async (db, id, clientIds) => {
  if (!UUID.test(id)) return false;
  const accounts = await Promise.all(clientIds.map((clientId) => found(findAccount(db, clientId, id))));
  return accounts.some((each) => each !== undefined);
};

/** The pages of the application, without `{base_url}/app`. What comes after a colon is checked. */
const PAGES: Record<string, Exists | undefined> = {
  '': undefined,
  '/payments': undefined,
  '/payments/:id': payment,
  '/approvals': undefined,
  '/approvals/settings': undefined,
  '/accounts': undefined,
  '/accounts/:id': account,
  '/documents': undefined,
  '/webhooks': undefined,
  '/profile': undefined,
};
/** Pages that only a sandbox has. */
const SANDBOX_PAGES: Record<string, Exists | undefined> = { '/developers': undefined, '/_components': undefined };

/** The addresses of an environment's pages, with what says whether the id in the address exists. */
export function pagesOf({ environment }: Config): [string, Exists | undefined][] {
  return Object.entries(environment === 'sandbox' ? { ...PAGES, ...SANDBOX_PAGES } : PAGES);
}

/** What was found; undefined where a Problem says that it does not exist. */
async function found<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

import type { Db } from '../../database.ts';
import { Problem } from '../../errors.ts';
import type { PaymentId } from '../../identifiers.ts';
import { findClient } from '../../identity/client.ts';
import { findContact } from '../../identity/contact.ts';
import { findPaymentOwner } from '../../payments/owner.ts';

/** Finds what a page shows. @throws Problem where it does not exist */
type Find = (db: Db, id: string) => Promise<unknown>;

/** The pages of the console, without `{operator_url}/console`. What comes after a colon is looked for. */
export const CONSOLE_PAGES: Record<string, Find | undefined> = {
  '': undefined,
  '/search': undefined,
  '/payments/:id': (db, id) => findPaymentOwner(db, id as PaymentId),
  '/clients/:id': findClient,
  '/contacts/:id': findContact,
  '/notifications': undefined,
  '/subscriptions': undefined,
  '/statements': undefined,
  '/imports': undefined,
  '/changes': undefined,
  '/requests': undefined,
  '/audit': undefined,
  '/tokens': undefined,
  '/system': undefined,
};

/** Whether there is what a page shows. */
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

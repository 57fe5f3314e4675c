import { type Db, first } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { ACCOUNT_NUMBER } from './currency-account.ts';

/** A currency account that an address names. */
export interface ChosenAccount {
  account_id: number;
  currency: string;
}

/**
 * The client's currency account that an address names, by its number or by the UUID of an account. The UUID stands for the client's
 * currency account in that account's currency.
 * @throws Problem currency_account_not_found
 */
export async function chosenAccount(db: Db, clientId: string, named: string): Promise<ChosenAccount> {
  const uuid = isUuid(named);
  const condition = uuid
    ? 'c.currency = (select a.currency from accounts a where a.client_id = $1 and a.account_id = $2)'
    : 'c.account_id = $2';
  const found =
    uuid || ACCOUNT_NUMBER.test(named)
      ? first(
          await db.query<ChosenAccount & Record<string, unknown>>({
            name: `currency-account-by-${uuid ? 'uuid' : 'number'}`,
            text: `select c.account_id, c.currency from currency_accounts c where c.client_id = $1 and ${condition}`,
            values: [clientId, named],
          }),
        )
      : undefined;
  if (found) return found;
  throw new Problem('currency_account_not_found', { field: 'account_id', message: 'does not exist for this client' });
}

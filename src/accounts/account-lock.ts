import type { Transaction, WhenLocked } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { CURRENCY_ACCOUNT_COLUMNS, type CurrencyAccountRecord } from './currency-account.ts';

/** What names a currency account. */
interface NamesAccount {
  client_id: string;
  currency_account_id: number;
}

/**
 * Locks currency accounts until the transaction ends, in one order. So other bookings of them come entirely before or entirely after these.
 * @returns those that exist, by `accountKey`; only those that are free, if the others are left out
 */
export async function lockAccounts(
  tx: Transaction,
  names: readonly NamesAccount[],
  whenLocked: WhenLocked,
): Promise<Map<string, CurrencyAccountRecord>> {
  const wanted = [...new Map(names.map((name) => [accountKey(name), name])).values()];
  if (wanted.length === 0) return new Map();
  const list = new RowList(wanted, (each) => each.client_id, {
    account_id: { type: 'bigint', of: (each) => each.currency_account_id },
  });
  const [name, skip] = whenLocked === 'wait' ? ['lock', ''] : ['lock-free', 'skip locked'];
  const { rows } = await tx.query<CurrencyAccountRecord>({
    name: list.named(`currency-accounts-${name}`),
    text: `select ${CURRENCY_ACCOUNT_COLUMNS} from currency_accounts a ${list.after('cross join')}
      where a.client_id = ${list.client} and a.account_id = ${list.at('account_id')} order by a.account_id for no key update of a ${skip}`,
    values: list.values,
  });
  return new Map(
    rows.map((row) => [accountKey({ client_id: row.client_id, currency_account_id: row.account_id }), row]),
  );
}

/** The key of a currency account among those of all clients. */
export function accountKey({ client_id: clientId, currency_account_id: account }: NamesAccount): string {
  return `${clientId}\0${account}`;
}

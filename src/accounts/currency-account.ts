import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { made, RecordKind, required, type Shown } from '../database/record.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { ClientId, Currency } from '../values/schemas.ts';

/** A currency account in the form that the operator reads, with its balance as a decimal string. */
export const CURRENCY_ACCOUNT = new RecordKind({
  table: 'currency_accounts',
  id: 'account_id',
  fields: {
    account_id: made(Type.Integer()),
    currency: required(Currency()),
    client_id: required(ClientId, { shown: ClientId }),
    balance: made(Type.String({ description: 'A decimal' })),
  },
});
export type CurrencyAccountRecord = Shown<typeof CURRENCY_ACCOUNT>;
/** The form of a single currency account for the operator. What is held changes with payments and trades, so the change feed leaves it out. */
export const FUNDED_ACCOUNT = new RecordKind({
  table: 'currency_accounts',
  id: 'account_id',
  fields: {
    ...CURRENCY_ACCOUNT.fields,
    held: made(Type.String({ description: 'What orders hold, a decimal' })),
    available: made(Type.String({ description: 'The balance without what is held, a decimal' }), {
      elsewhere: '(a.balance - a.held)',
    }),
  },
});
type FundedAccount = Shown<typeof FUNDED_ACCOUNT>;
/** A currency account in the form that the client sees (service interface, Currency account). */
export type CurrencyAccount = Pick<CurrencyAccountRecord, 'account_id' | 'currency'>;

interface Wanted {
  clientId: string;
  currency: string;
  /** Set for the demonstration's accounts, which have the same numbers every time; by default the next number. */
  accountId?: number;
}

/** @throws Problem already_exists (a client has one account for each currency), client_not_found */
export async function createCurrencyAccount(tx: Transaction, act: Act, wanted: Wanted): Promise<CurrencyAccountRecord> {
  return (await insertAccount(tx, act, wanted)) as CurrencyAccountRecord;
}

/** @param conflict the clause for an account that the client already has; the result is then undefined if none was created */
async function insertAccount(
  tx: Transaction,
  act: Act,
  { clientId, currency, accountId }: Wanted,
  conflict = '',
): Promise<CurrencyAccountRecord | undefined> {
  await requireClient(tx, clientId);
  const account = first(
    await tx.query<CurrencyAccountRecord>(
      `insert into currency_accounts as a (account_id, client_id, currency, created_at) overriding system value
       values (coalesce($4, nextval(pg_get_serial_sequence('currency_accounts', 'account_id'))), $1, $2, $3)
       ${conflict} returning ${CURRENCY_ACCOUNT_COLUMNS}`,
      [clientId, currency, act.now, accountId ?? null],
    ),
  );
  if (account)
    audit(tx, act, {
      action: 'create',
      entity: 'currency_account',
      entityId: String(account.account_id),
      clientId,
      after: account,
    });
  return account;
}

/** The client's currency accounts in the order of their currencies. */
export async function listCurrencyAccounts(db: Db, clientId: string): Promise<CurrencyAccount[]> {
  const { rows } = await db.query<CurrencyAccount>({
    name: 'currency-accounts',
    text: 'select account_id, currency from currency_accounts where client_id = $1 order by currency',
    values: [clientId],
  });
  return rows;
}

/** The form of an account number: one that fits a bigint. */
export const ACCOUNT_NUMBER = /^\d{1,18}$/;

/** Any client's currency account with its balance and what is held, as decimal strings. @throws Problem currency_account_not_found */
export async function findCurrencyAccount(db: Db, number: string): Promise<FundedAccount> {
  const found = ACCOUNT_NUMBER.test(number)
    ? first(
        await db.query<FundedAccount>(
          `select ${FUNDED_ACCOUNT.selectFrom('a')} from currency_accounts a where a.account_id = $1`,
          [number],
        ),
      )
    : undefined;
  if (!found) throw new Problem('currency_account_not_found', { field: 'account_id', message: 'does not exist' });
  return found;
}

/**
 * The client's account in a currency. It is opened if there is none, because a returned payment must be credited. If several callers try at
 * the same moment, one opens it and the others find it.
 */
export async function openCurrencyAccount(tx: Transaction, act: Act, wanted: Wanted): Promise<number> {
  const find = async () =>
    first(
      await tx.query<{ account_id: number }>(
        'select account_id from currency_accounts where client_id = $1 and currency = $2',
        [wanted.clientId, wanted.currency],
      ),
    )?.account_id;
  const known = await find();
  if (known !== undefined) return known;
  const opened = await insertAccount(tx, act, wanted, 'on conflict (client_id, currency) do nothing');
  return opened?.account_id ?? ((await find()) as number);
}

/** The columns for a record, from the table `a`. */
export const CURRENCY_ACCOUNT_COLUMNS = CURRENCY_ACCOUNT.selectFrom('a');

/** Currency accounts in the form that the operator reads, for the change feed. */
export async function readCurrencyAccounts(db: Db, ids: readonly string[]): Promise<CurrencyAccountRecord[]> {
  const { rows } = await db.query<CurrencyAccountRecord>({
    name: 'currency-account-records',
    text: `select ${CURRENCY_ACCOUNT_COLUMNS} from currency_accounts a where a.account_id = any($1::bigint[])`,
    values: [ids],
  });
  return rows;
}

import { unionOfCells } from '../database/cells/union.ts';
import { type Db, first } from '../database/database.ts';
import { countRows, type List, type ListRequest, whereOf } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { shown, TRANSACTION, type TransactionRecord, transactionRecord } from './transaction.ts';

/** A transaction as it is stored. */
export type TransactionRow = Omit<
  TransactionRecord,
  'account_id' | 'amount' | 'balance' | 'booking_datetime' | 'value_datetime'
> & {
  account_id: number;
  /** Negative for a debit. */
  amount: string;
  currency: string;
  balance: string;
  booking_datetime: Date;
  value_datetime: Date;
};

/** The columns for a transaction record. */
export const TRANSACTION_COLUMNS = `${TRANSACTION.selectWithout('credit_debit_indicator', 'status')}, currency`;

export interface TransactionFilter {
  currencyAccountId?: number | undefined;
  /** A range of booking moments. The start is included, the end is not. */
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A page of transactions, the newest booking first. */
export async function listTransactions(
  db: Db,
  filter: TransactionFilter,
  { page, pageSize, clientId }: ListRequest,
): Promise<List<TransactionRecord>> {
  const { where, values } = whereOf([
    ['t.client_id = ?', clientId],
    ['t.currency_account_id = ?', filter.currencyAccountId],
    ['t.booking_datetime >= ?', filter.from],
    ['t.booking_datetime < ?', filter.to],
  ]);
  const [limit, offset] = [`$${values.length + 1}::int`, `$${values.length + 2}::bigint`];
  // Takes the newest of each account through its index, and then the newest of those.
  const newest = `select ${TRANSACTION_COLUMNS}, t.id from transactions t where ${where} order by t.booking_datetime desc, t.id desc`;
  const ofClient = `select t.* from (select account_id from currency_accounts where client_id = $1) a cross join lateral (
      select ${TRANSACTION_COLUMNS}, t.id from transactions t where ${where} and t.currency_account_id = a.account_id
      order by t.booking_datetime desc, t.id desc limit ${limit} + ${offset}) t order by t.booking_datetime desc, t.id desc`;
  const union = clientId === undefined ? unionOfCells(db, 'transactions') : undefined;
  const all = union
    ? `select t.* from (${union(`${newest} limit ${limit} + ${offset}`)}) t order by t.booking_datetime desc, t.id desc`
    : newest;
  const { rows } = await db.query<TransactionRow>(
    `${clientId === undefined ? all : ofClient} limit ${limit} offset ${offset}`,
    [...values, pageSize, (page - 1) * pageSize],
  );
  const bounded = clientId === undefined;
  return {
    rows: rows.map(transactionOf),
    total: await countRows(db, { from: 'transactions t', where, values, bounded }),
  };
}

/** @throws Problem transaction_not_found */
export async function findTransaction(db: Db, id: string): Promise<TransactionRecord> {
  const row = first(
    await db.query<TransactionRow>(`select ${TRANSACTION_COLUMNS} from transactions t where t.transaction_id = $1`, [
      id,
    ]),
  );
  if (!row) throw new Problem('transaction_not_found', { field: 'id', message: 'does not exist' });
  return transactionOf(row);
}

/** Transactions of any clients in the form that the operator reads, for the change feed. */
export async function readTransactions(db: Db, ids: readonly string[]): Promise<TransactionRecord[]> {
  const { rows } = await db.query<TransactionRow>({
    name: 'transaction-records',
    text: `select ${TRANSACTION_COLUMNS} from transactions t where t.transaction_id = any($1)`,
    values: [ids],
  });
  return rows.map(transactionOf);
}

/** A stored transaction in the form that the institution sees. */
export function transactionOf(row: TransactionRow): TransactionRecord {
  const { transaction_id: id, account_id: account, amount: signed, currency, balance } = row;
  const debit = signed.startsWith('-');
  const amount = debit ? signed.slice(1) : signed;
  const { booking_datetime: booked, value_datetime: valued, ...rest } = row;
  const input = { ...rest, currency_account_id: account, amount: { amount, currency } };
  return transactionRecord(row, shown({ input, id, amount, debit, balance, booked, valued }));
}

import { type Static, Type } from 'typebox';
import { type Db, first } from '../database/database.ts';
import type { List } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { Nullable } from '../values/schemas.ts';
import { present } from '../values/unknown.ts';
import { BOOKED_TRANSACTION, COUNTS, TRANSACTION_KINDS, type TransactionKind } from './transaction.ts';
import { TRANSACTION_COLUMNS, type TransactionRow, transactionOf } from './transaction-list.ts';

/** Transactions in the form that clients look them up, by value date. */

/** The names that clients use for the kinds. */
export const TRANSACTION_TYPES = {
  credit: 'CREDIT_TRANSACTION',
  debit: 'DEBIT_TRANSACTION',
  incoming: 'CREDIT_INCOMING_TRANSACTION',
  margin: 'CREDIT_MARGIN_TRANSACTION',
  payment_returned: 'CREDIT_PAYMENT_RETURNED_TRANSACTION',
} as const satisfies Record<string, TransactionKind>;
export type TransactionType = keyof typeof TRANSACTION_TYPES;
const TYPES = Object.keys(TRANSACTION_TYPES) as TransactionType[];
const TYPE_OF = new Map<string, TransactionType>(TYPES.map((type) => [TRANSACTION_TYPES[type], type]));

/** A transaction in the form that a client sees: the fields of events, and its kind. */
export const CLIENT_TRANSACTION = Type.Object({
  client_id: Type.String(),
  transaction_type: Type.Enum(TYPES),
  payment_id: Nullable(Type.String({ description: 'The payment that it pays for, or that it returns' })),
  trade_id: Nullable(Type.String({ description: 'The trade that it pays for' })),
  ...BOOKED_TRANSACTION.properties,
});
type ClientTransaction = Static<typeof CLIENT_TRANSACTION>;

export interface ClientTransactionFilter {
  indicator?: 'Credit' | 'Debit' | undefined;
  type?: TransactionType | undefined;
  /** A range of value dates. The start is included, the end is not. */
  from?: Date | undefined;
  to?: Date | undefined;
  order: 'asc' | 'desc';
}

/** Which transactions: those of one account, by its number, or those of the client's accounts in some currencies. */
type Chosen = number | readonly string[];

/**
 * A page of a client's transactions by value date, and their total number. Transactions of the same date are in the order of booking. The
 * first ones of each account and kind come through the index of value dates, so a page costs the same however long the history is. The
 * total is kept with the accounts; only a period has to be counted.
 */
export async function listClientTransactions(
  db: Db,
  { clientId, chosen, filter }: { clientId: string; chosen: Chosen; filter: ClientTransactionFilter },
  { page, pageSize }: { page: number; pageSize: number },
): Promise<List<ClientTransaction>> {
  const { order, from, to } = filter;
  const ends = [from, to].filter((end) => end !== undefined);
  const account = typeof chosen === 'number' ? 'a.account_id = $2' : 'a.currency = any($2)';
  const places = `currency_accounts a cross join unnest($3::text[]) as k(kind)`;
  const where = `a.client_id = $1 and ${account}`;
  const period = `${from ? ' and t.value_datetime >= $4' : ''}${to ? ` and t.value_datetime < $${3 + ends.length}` : ''}`;
  const of = `transactions t where t.client_id = $1 and t.currency_account_id = a.account_id and t.kind = k.kind${period}`;
  const [limit, offset] = [`$${4 + ends.length}::int`, `$${5 + ends.length}::bigint`];
  const sorted = `t.value_datetime ${order}, t.id ${order}`;
  const values = [clientId, chosen, kindsOf(filter), ...ends];
  const form = `${typeof chosen === 'number' ? 'account' : 'currencies'}${from ? '-from' : ''}${to ? '-to' : ''}`;
  const { rows } = await db.query<TransactionRow>({
    name: `client-transactions-${form}-${order}`,
    text: `select t.* from ${places} cross join lateral
        (select ${TRANSACTION_COLUMNS}, t.id from ${of} order by ${sorted} limit ${limit} + ${offset}) t
      where ${where} order by ${sorted} limit ${limit} offset ${offset}`,
    values: [...values, pageSize, (page - 1) * pageSize],
  });
  const counted = ends.length > 0 ? `(select count(*) from ${of})` : KEPT_COUNT;
  const total = await db.query<{ total: number }>({
    name: `client-transactions-${form}-total`,
    text: `select coalesce(sum(${counted}), 0)::bigint as total from ${places} where ${where}`,
    values,
  });
  return { rows: rows.map(clientTransaction), total: first(total)?.total ?? 0 };
}

/** The number of transactions of the kind `k` in the account `a`. */
const KEPT_COUNT = `case k.kind ${TRANSACTION_KINDS.map((kind) => `when '${kind}' then a.${COUNTS[kind]}`).join(' ')} end`;

/** The kinds that a filter allows. */
function kindsOf({ type, indicator }: ClientTransactionFilter): TransactionKind[] {
  return TRANSACTION_KINDS.filter(
    (kind) =>
      (type === undefined || TRANSACTION_TYPES[type] === kind) &&
      (indicator === undefined || (kind === 'DEBIT_TRANSACTION') === (indicator === 'Debit')),
  );
}

/** A transaction of a client's currency account. @throws Problem transaction_not_found */
export async function findClientTransaction(
  db: Db,
  { clientId, accountId, id }: { clientId: string; accountId: number; id: string },
): Promise<ClientTransaction> {
  const row = first(
    await db.query<TransactionRow>({
      name: 'client-transaction',
      text: `select ${TRANSACTION_COLUMNS} from transactions t
        where t.client_id = $1 and t.transaction_id = $2 and t.currency_account_id = $3`,
      values: [clientId, id, accountId],
    }),
  );
  if (row) return clientTransaction(row);
  throw new Problem('transaction_not_found', { field: 'transaction_id', message: 'does not exist on this account' });
}

function clientTransaction(row: TransactionRow): ClientTransaction {
  const { client_id, kind, payment_id, trade_id, ...booked } = transactionOf(row);
  return { client_id, transaction_type: present(TYPE_OF.get(kind)), payment_id, trade_id, ...booked };
}

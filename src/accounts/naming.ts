import { heldIds } from '../database/cells/identifiers.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { textArray } from '../values/text-array.ts';
import type { TransactionInput } from './transaction.ts';

/** What transactions name: the payment or the trade that they pay for. */

interface Named {
  client_id: string;
  /** Of a payment its own, of a trade the one that is sold. */
  paid: string;
  /** Of a trade the one that is bought. */
  bought: string | null;
}

/** The payments and trades that some transactions name, as far as they exist. A client that is elsewhere is null. */
export type NamedRecords = ReadonlyMap<string, Named | null>;

const key = (kind: 'payment_id' | 'trade_id', id: string) => `${kind} ${id}`;

/** Finds what transactions name. */
export async function findNamed(tx: Transaction, inputs: readonly TransactionInput[]): Promise<NamedRecords> {
  const payments = inputs.flatMap(({ payment_id: id }) => id ?? []);
  const trades = inputs.flatMap(({ trade_id: id }) => id ?? []);
  const found = new Map<string, Named | null>();
  if (payments.length + trades.length === 0) return found;
  const { rows } = await tx.query<Named & { kind: 'payment_id' | 'trade_id'; id: string }>({
    name: 'transactions-named',
    text: `select 'payment_id' as kind, payment_id as id, client_id, payment_currency as paid, null as bought from payments
        where payment_id = any($1)
      union all select 'trade_id', trade_id, client_id, sell_currency, buy_currency from trades where trade_id = any($2)`,
    values: [textArray(payments), textArray(trades)],
  });
  for (const { kind, id, ...row } of rows) found.set(key(kind, id), row);
  if (!hasSeveralCells(tx)) return found;
  for (const [kind, ids] of [['payment_id', payments] as const, ['trade_id', trades] as const]) {
    const missing = ids.filter((id) => !found.has(key(kind, id)));
    // The cell of another client has them.
    if (missing.length > 0) for (const id of await heldIds(tx, kind, missing)) found.set(key(kind, id), null);
  }
  return found;
}

/** Why a transaction cannot name what it names. */
export function namingFault(named: NamedRecords, input: TransactionInput): Problem | undefined {
  const kind = input.payment_id == null ? 'trade_id' : 'payment_id';
  const id = input[kind];
  if (id == null) return undefined;
  const record = named.get(key(kind, id));
  if (record === undefined)
    return new Problem(kind === 'trade_id' ? 'trade_not_found' : 'payment_not_found', {
      field: kind,
      message: 'does not exist',
    });
  const refuse = (message: string) => new Problem('currency_mismatch', { field: kind, message });
  if (record?.client_id !== input.client_id) return refuse('must be of the same client');
  const { currency } = input.amount;
  const fits = record.paid === currency || (input.kind !== 'DEBIT_TRANSACTION' && record.bought === currency);
  return fits ? undefined : refuse(`must be in the currency of the account, ${currency}`);
}

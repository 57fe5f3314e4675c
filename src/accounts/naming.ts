import { heldIds } from '../database/cells/identifiers.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import type { Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import { textArray } from '../values/text-array.ts';
import type { TransactionInput } from './transaction.ts';

/** The payments and trades that transactions pay for, and name. */

interface Named {
  client_id: string;
  /** The currency of a payment, or the sold currency of a trade. */
  paid: string;
  /** The bought currency of a trade. */
  bought: string | null;
}

/** The existing payments and trades that some transactions name. Null stands for one of a client in another cell. */
export type NamedRecords = ReadonlyMap<string, Named | null>;

const key = (kind: 'payment_id' | 'trade_id', id: string) => `${kind} ${id}`;

/** Finds the payments and trades that transactions name. */
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
    // They exist in the cell of another client.
    if (missing.length > 0) for (const id of await heldIds(tx, kind, missing)) found.set(key(kind, id), null);
  }
  return found;
}

/** Why a transaction may not name this payment or trade; undefined if it may. */
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

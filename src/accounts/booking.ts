import type { Act } from '../audit/act.ts';
import { noteChange, noteRecord } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import type { CopyValue } from '../database/copy.ts';
import { first, type Transaction } from '../database/database.ts';
import { insertRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { decimal } from '../values/money.ts';
import { notify } from '../webhooks/notification.ts';
import { CURRENCY_ACCOUNT_COLUMNS, type CurrencyAccountRecord } from './currency-account.ts';
import {
  type Booking,
  moment,
  party,
  shown,
  type TransactionInput,
  type TransactionRecord,
  transactionRecord,
} from './transaction.ts';

/**
 * Books a transaction in the caller's database transaction: locks the account's row, moves its balance, and writes the notification of
 * its kind. Concurrent bookings of one account follow each other, so that no update is lost and every line has its balance.
 * @param options `silent`: nobody is notified
 * @throws Problem client_not_found, currency_account_not_found, already_exists, invalid_body, invalid_parameter
 */
export async function bookTransaction(
  tx: Transaction,
  act: Act,
  input: TransactionInput,
  { silent = false }: { silent?: boolean | undefined } = {},
): Promise<TransactionRecord> {
  await requireClient(tx, input.client_id);
  const amount = decimal(input.amount.amount, 'amount.amount', { positive: true });
  const debit = input.kind === 'DEBIT_TRANSACTION';
  const booked = moment(input.booking_datetime, 'booking_datetime') ?? act.now;
  const valued = moment(input.value_datetime, 'value_datetime') ?? booked;
  const signed = debit ? `-${amount}` : amount;
  const account = first(
    await tx.query<CurrencyAccountRecord & Record<string, unknown>>(
      `update currency_accounts set balance = balance + $3::numeric where client_id = $1 and account_id = $2 and currency = $4
       returning ${CURRENCY_ACCOUNT_COLUMNS}`,
      [input.client_id, input.currency_account_id, signed, input.amount.currency],
    ),
  );
  if (!account) throw await noAccount(tx, input);
  const { balance } = account;
  const id = await newId(tx, input.client_id, 'transaction_id', input.transaction_id);
  const row = transactionRow(input, { id, amount, debit, balance, booked, valued }, act.now);
  await insertRow(tx, 'transactions', row, { returning: 'id' });
  const transaction = shown(input, { id, amount, debit, balance, booked, valued });
  await audit(tx, act, {
    action: 'create',
    entity: 'transaction',
    entityId: id,
    clientId: input.client_id,
    after: transaction,
  });
  const { client_id: clientId, payment_id = null, kind } = input;
  const record = transactionRecord({ client_id: clientId, kind, payment_id }, transaction);
  noteRecord(tx, 'transaction', id, () => ({ text: JSON.stringify(record), kind, ...transaction.amount }));
  noteChange(tx, act, {
    ...{ entity: 'currency_account', id: String(account.account_id), clientId, action: 'update' },
    // The update holds its row.
    known: () => ({ text: JSON.stringify(account) }),
  });
  if (silent) return record;
  await notify(tx, {
    clientId: input.client_id,
    type: input.kind,
    body: JSON.stringify({ data: [transaction] }),
    now: act.now,
  });
  return record;
}

/** A booked transaction as it is stored. */
export function transactionRow(
  input: TransactionInput,
  { id, amount, debit, balance, booked, valued }: Booking,
  now: Date,
): Record<string, CopyValue> {
  return {
    client_id: input.client_id,
    currency_account_id: input.currency_account_id,
    transaction_id: id,
    kind: input.kind,
    amount: debit ? `-${amount}` : amount,
    currency: input.amount.currency,
    balance_after: balance,
    booking_datetime: booked,
    value_datetime: valued,
    transaction_reference: input.transaction_reference ?? null,
    transaction_information: input.transaction_information ?? null,
    additional_transaction_information: input.additional_transaction_information ?? null,
    creditor_name: input.creditor_name ?? null,
    creditor_account: input.creditor_account ? JSON.stringify(party(input.creditor_account)) : null,
    debtor_name: input.debtor_name ?? null,
    debtor_account: input.debtor_account ? JSON.stringify(party(input.debtor_account)) : null,
    payment_id: input.payment_id ?? null,
    created_at: now,
  };
}

/** Why no account was moved: it does not exist, or it is in another currency. */
async function noAccount(tx: Transaction, input: TransactionInput): Promise<Problem> {
  const { rows } = await tx.query<{ currency: string }>(
    'select currency from currency_accounts where client_id = $1 and account_id = $2',
    [input.client_id, input.currency_account_id],
  );
  if (!rows[0])
    return new Problem('currency_account_not_found', {
      field: 'currency_account_id',
      message: 'does not exist for this client',
    });
  return new Problem('invalid_body', {
    field: 'amount.currency',
    message: `must be the account's currency, ${rows[0].currency}`,
  });
}

import { randomUUID } from 'node:crypto';
import Big from 'big.js';
import { moment, party, shown, type TransactionGiven } from '../accounts/transaction.ts';
import type { Transaction } from '../database.ts';
import { decimal } from '../money.ts';
import { notifyAll } from '../webhooks/notification.ts';
import { copyRows } from './copy.ts';
import { type ImportKind, type Numbered, Refusals } from './kind.ts';
import { findClients, pairKey, settleIds } from './lookups.ts';

export interface TransactionRow {
  given: TransactionGiven;
  transactionId: string | undefined;
  amount: string;
  debit: boolean;
  booked: Date;
  valued: Date;
}

const COLUMNS = [
  'client_id',
  'currency_account_id',
  'transaction_id',
  'kind',
  'amount',
  'currency',
  'balance_after',
  'booking_datetime',
  'value_datetime',
  'transaction_reference',
  'transaction_information',
  'additional_transaction_information',
  'creditor_name',
  'creditor_account',
  'debtor_name',
  'debtor_account',
  'created_at',
] as const;

/** Transactions (docs/imports.md), booked in the order of their lines: each has the balance of its account after it. */
export const transactionImport: ImportKind<TransactionGiven, TransactionRow> = {
  entity: 'transaction',
  batchLines: 5_000,

  read(given, { act }) {
    const booked = moment(given.booking_datetime, 'booking_datetime') ?? act.now;
    return {
      given,
      transactionId: given.transaction_id,
      amount: decimal(given.amount.amount, 'amount.amount', { positive: true }),
      debit: given.kind === 'DEBIT_TRANSACTION',
      booked,
      valued: moment(given.value_datetime, 'value_datetime') ?? booked,
    };
  },

  async check(tx, rows) {
    const refusals = new Refusals();
    const clients = await findClients(
      tx,
      rows.map(({ row }) => row.given.client_id),
    );
    const accounts = await lockAccounts(tx, rows);
    for (const {
      line,
      row: { given },
    } of rows) {
      const account = accounts.get(accountKey(given));
      if (!clients.has(given.client_id))
        refusals.refuse(line, 'client_not_found', { field: 'client_id', message: 'is no client' });
      else if (!account)
        refusals.refuse(line, 'currency_account_not_found', {
          field: 'currency_account_id',
          message: 'is no currency account of the client',
        });
      else if (account.currency !== given.amount.currency) {
        refusals.refuse(line, 'invalid_body', {
          field: 'amount.currency',
          message: `must be the account's currency, ${account.currency}`,
        });
      }
    }
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'transactions', column: 'transaction_id' },
      {
        get: (row) => row.transactionId,
        set: (row, id) => {
          row.transactionId = id;
        },
      },
      async (count) => Array.from({ length: count }, () => randomUUID()),
    );
    return refusals;
  },

  async insert(tx, rows, { act, notify }) {
    const accounts = await lockAccounts(tx, rows);
    const balances = rows.map(({ row }) => {
      const account = accounts.get(accountKey(row.given)) as LockedAccount;
      account.balance = added(account.balance, row.debit ? `-${row.amount}` : row.amount);
      return account.balance;
    });
    await copyRows(
      tx,
      'transactions',
      COLUMNS,
      rows.map(({ row: { given, transactionId, amount, debit, booked, valued } }, index) => [
        given.client_id,
        given.currency_account_id,
        transactionId,
        given.kind,
        debit ? `-${amount}` : amount,
        given.amount.currency,
        balances[index],
        booked,
        valued,
        given.transaction_reference,
        given.transaction_information,
        given.additional_transaction_information,
        given.creditor_name,
        given.creditor_account ? JSON.stringify(party(given.creditor_account)) : null,
        given.debtor_name,
        given.debtor_account ? JSON.stringify(party(given.debtor_account)) : null,
        act.now,
      ]),
    );
    const moved = [...accounts.values()];
    await tx.query(
      `update currency_accounts a set balance = u.balance from unnest($1::text[], $2::bigint[], $3::numeric[]) as u(client_id, account_id, balance)
       where a.client_id = u.client_id and a.account_id = u.account_id`,
      [
        moved.map((account) => account.client_id),
        moved.map((account) => account.account_id),
        moved.map((account) => account.balance),
      ],
    );
    if (!notify) return;
    const events = rows.map(({ row }, index) => ({
      clientId: row.given.client_id,
      type: row.given.kind,
      body: JSON.stringify({
        data: [
          shown(
            row.given,
            row.transactionId as string,
            row.amount,
            row.debit,
            balances[index] as string,
            row.booked,
            row.valued,
          ),
        ],
      }),
      now: act.now,
    }));
    await notifyAll(tx, events);
  },
};

interface LockedAccount {
  client_id: string;
  account_id: number;
  currency: string;
  balance: string;
}

function accountKey(given: TransactionGiven): string {
  return pairKey(given.client_id, String(given.currency_account_id));
}

/** The accounts of a batch, locked in one order until its end: other bookings of them come before or after it as a whole. */
async function lockAccounts(tx: Transaction, rows: Numbered<TransactionRow>[]): Promise<Map<string, LockedAccount>> {
  const wanted = new Map(rows.map(({ row: { given } }) => [accountKey(given), given]));
  const { rows: accounts } = await tx.query<LockedAccount>(
    `select a.client_id, a.account_id, a.currency, a.balance from currency_accounts a
     join unnest($1::text[], $2::bigint[]) as u(client_id, account_id) on u.client_id = a.client_id and u.account_id = a.account_id
     order by a.account_id for update of a`,
    [
      [...wanted.values()].map((given) => given.client_id),
      [...wanted.values()].map((given) => given.currency_account_id),
    ],
  );
  return new Map(accounts.map((account) => [pairKey(account.client_id, String(account.account_id)), account]));
}

/** The sum with as many decimals as the longer of both has: what PostgreSQL's numeric would give. */
function added(a: string, b: string): string {
  const decimals = (text: string) => text.split('.')[1]?.length ?? 0;
  return new Big(a).plus(b).toFixed(Math.max(decimals(a), decimals(b)));
}

import { randomUUID } from 'node:crypto';
import { moment, type Party, party, shown, type TransactionInput } from '../../accounts/transaction.ts';
import { noteChange } from '../../audit/change.ts';
import { type Columns, copyRows } from '../../database/copy.ts';
import type { Transaction } from '../../database/database.ts';
import { decimal, sum } from '../../values/money.ts';
import { notifyAll } from '../../webhooks/notification.ts';
import { resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, type ImportRow, Refusals, sameNames } from '../kind.ts';
import { checkClients, pairKey } from '../references.ts';

export interface TransactionImportRow extends ImportRow<TransactionInput> {
  amount: string;
  debit: boolean;
  booked: Date;
  valued: Date;
  /** Of its account after it; known when it is booked. */
  balance: string;
}

const IDS = {
  table: 'transactions',
  column: 'transaction_id',
  make: async (_tx: Transaction, count: number) => Array.from({ length: count }, () => randomUUID()),
};

const columns = (now: Date): Columns<TransactionImportRow> => ({
  client_id: ({ input }) => input.client_id,
  currency_account_id: ({ input }) => input.currency_account_id,
  transaction_id: ({ id }) => id,
  kind: ({ input }) => input.kind,
  amount: signed,
  currency: ({ input }) => input.amount.currency,
  balance_after: ({ balance }) => balance,
  booking_datetime: ({ booked }) => booked,
  value_datetime: ({ valued }) => valued,
  transaction_reference: ({ input }) => input.transaction_reference,
  transaction_information: ({ input }) => input.transaction_information,
  additional_transaction_information: ({ input }) => input.additional_transaction_information,
  creditor_name: ({ input }) => input.creditor_name,
  creditor_account: ({ input }) => (input.creditor_account ? JSON.stringify(party(input.creditor_account)) : null),
  debtor_name: ({ input }) => input.debtor_name,
  debtor_account: ({ input }) => (input.debtor_account ? JSON.stringify(party(input.debtor_account)) : null),
  created_at: () => now,
});

const asInstant = (value: unknown) => (value instanceof Date ? value : moment(value as string, ''))?.getTime();
const asParty = (value: unknown) => JSON.stringify(party(value as Party));

const COMPARISON: Comparison = {
  table: 'transactions',
  id: 'transaction_id',
  fields: {
    ...sameNames('client_id', 'currency_account_id', 'kind', 'creditor_name', 'creditor_account', 'debtor_name'),
    ...sameNames('debtor_account', 'transaction_reference', 'transaction_information'),
    ...sameNames('additional_transaction_information', 'booking_datetime', 'value_datetime'),
    amount: `json_build_object('amount', abs(t.amount)::text, 'currency', t.currency)`,
  },
  forms: {
    amount: (value) => {
      const { amount, currency } = value as TransactionInput['amount'];
      return `${asDecimal(amount)} ${currency}`;
    },
    creditor_account: asParty,
    debtor_account: asParty,
    booking_datetime: asInstant,
    value_datetime: asInstant,
  },
};

/** Transactions (docs/imports.md), booked in the order of their lines: each has the balance of its account after it. */
export const transactionImport: ImportKind<TransactionInput, TransactionImportRow> = {
  entity: 'transaction',
  batchRows: 5_000,
  claims: [{ field: 'transaction_id', id: ({ id }) => id }],
  comparison: COMPARISON,

  read(line, input, { act }) {
    const booked = moment(input.booking_datetime, 'booking_datetime') ?? act.now;
    return {
      line,
      input,
      id: input.transaction_id,
      amount: decimal(input.amount.amount, 'amount.amount', { positive: true }),
      debit: input.kind === 'DEBIT_TRANSACTION',
      booked,
      valued: moment(input.value_datetime, 'value_datetime') ?? booked,
      balance: '',
    };
  },

  async check(tx, rows) {
    const refusals = new Refusals();
    await checkClients(tx, rows, refusals);
    await checkAccounts(tx, rows, refusals);
    await resolveIds(tx, rows, refusals, IDS);
    return refusals;
  },

  async insert(tx, rows, { act, notify }) {
    await moveBalances(tx, rows);
    await copyRows(tx, 'transactions', columns(act.now), rows);
    for (const { input } of rows) {
      const { currency_account_id: id, client_id: clientId } = input;
      noteChange(tx, act, { entity: 'currency_account', id: String(id), clientId, action: 'import' });
    }
    if (!notify) return;
    const events = rows.map((row) => ({
      clientId: row.input.client_id,
      type: row.input.kind,
      body: JSON.stringify({
        data: [shown(row.input, { ...row, id: row.id as string })],
      }),
      now: act.now,
    }));
    await notifyAll(tx, events);
  },
};

function signed({ amount, debit }: TransactionImportRow): string {
  return debit ? `-${amount}` : amount;
}

async function checkAccounts(tx: Transaction, rows: TransactionImportRow[], refusals: Refusals): Promise<void> {
  const accounts = await lockAccounts(tx, rows);
  for (const { line, input } of rows) {
    const account = accounts.get(accountKey(input));
    if (!account)
      refusals.refuse(line, 'currency_account_not_found', {
        field: 'currency_account_id',
        message: 'does not exist, or belongs to another client',
      });
    else if (account.currency !== input.amount.currency)
      refusals.refuse(line, 'invalid_body', {
        field: 'amount.currency',
        message: `must be the account's currency, ${account.currency}`,
      });
  }
}

/** Gives each row the balance after it, and each account the balance after its last row. */
async function moveBalances(tx: Transaction, rows: TransactionImportRow[]): Promise<void> {
  const accounts = await lockAccounts(tx, rows);
  for (const row of rows) {
    const account = accounts.get(accountKey(row.input)) as LockedAccount;
    account.balance = sum(account.balance, signed(row));
    row.balance = account.balance;
  }
  const moved = [...accounts.values()];
  await tx.query(
    `update currency_accounts a set balance = u.balance
     from unnest($1::text[], $2::bigint[], $3::numeric[]) as u(client_id, account_id, balance)
     where a.client_id = u.client_id and a.account_id = u.account_id`,
    [
      moved.map((account) => account.client_id),
      moved.map((account) => account.account_id),
      moved.map((account) => account.balance),
    ],
  );
}

interface LockedAccount {
  client_id: string;
  account_id: number;
  currency: string;
  balance: string;
}

function accountKey(input: TransactionInput): string {
  return pairKey(input.client_id, String(input.currency_account_id));
}

/** The accounts of a batch, locked in one order until its end: other bookings of them come before or after it as a whole. */
async function lockAccounts(tx: Transaction, rows: TransactionImportRow[]): Promise<Map<string, LockedAccount>> {
  const wanted = new Map(rows.map(({ input }) => [accountKey(input), input]));
  const { rows: accounts } = await tx.query<LockedAccount>(
    `select a.client_id, a.account_id, a.currency, a.balance from currency_accounts a
     join unnest($1::text[], $2::bigint[]) as u(client_id, account_id)
       on u.client_id = a.client_id and u.account_id = a.account_id
     order by a.account_id for update of a`,
    [
      [...wanted.values()].map((input) => input.client_id),
      [...wanted.values()].map((input) => input.currency_account_id),
    ],
  );
  return new Map(accounts.map((account) => [pairKey(account.client_id, String(account.account_id)), account]));
}

import { randomUUID } from 'node:crypto';
import type { Act } from '../audit/act.ts';
import { noteChange, noteRecord } from '../audit/change.ts';
import { type AuditEntry, auditSteps } from '../audit/record.ts';
import { claimIds, noteChosen, takenId } from '../database/cells/identifiers.ts';
import { type Columns, writeRows } from '../database/copy.ts';
import { type Transaction, together, type WhenLocked } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import { existingIds } from '../database/rows.ts';
import { existingClients, noClient } from '../identity/people/tenant.ts';
import { attempt, Problem } from '../values/errors.ts';
import { decimal, sum } from '../values/money.ts';
import { present, tableOf } from '../values/unknown.ts';
import { notifyAll } from '../webhooks/notification.ts';
import { accountKey, lockAccounts } from './account-lock.ts';
import type { CurrencyAccountRecord } from './currency-account.ts';
import { closeByDebits } from './held-money.ts';
import { findNamed, namingFault } from './naming.ts';
import {
  type Booking,
  COUNTS,
  moment,
  shown,
  TRANSACTION,
  type TransactionInput,
  type TransactionRecord,
  transactionRecord,
} from './transaction.ts';

/** Books transactions of any accounts, in the caller's database transaction. */

/** A transaction to be booked, and who books it. */
export interface BookingCall {
  act: Act;
  input: TransactionInput;
  /** The trace span that it belongs to; by default, the current one. */
  traceparent?: string | null | undefined;
}

const IDS = { table: 'transactions', column: 'transaction_id' };

/** What is to be booked. */
export interface WantedBooking extends BookingCall {
  /** Why its values cannot be booked, whatever account it names. */
  fault?: Problem;
  /** Its account, locked. `judgeBookings` sets it. Bookings of one account share the object. */
  account?: CurrencyAccountRecord | undefined;
}

type ReadBooking = Booking & WantedBooking;

/** Options for writing bookings. */
export interface BookingOptions {
  /** Nobody is notified. */
  silent?: boolean | undefined;
  /** They are lines of an import, which writes one audit row for all of them. */
  imported?: boolean;
  /** What to do about accounts that another transaction has locked; by default, wait. */
  whenLocked?: WhenLocked;
}

/**
 * Books a single transaction; see `bookTransactions`.
 * @throws Problem client_not_found, currency_account_not_found, payment_not_found, trade_not_found, currency_mismatch, already_exists,
 * invalid_body, invalid_parameter
 */
export async function bookTransaction(tx: Transaction, act: Act, input: TransactionInput): Promise<TransactionRecord> {
  const [outcome] = await bookTransactions(tx, [{ act, input }]);
  if (outcome instanceof Problem) throw outcome;
  return present(outcome);
}

/**
 * Books transactions in order: changes the balances of their accounts, and writes a notification for each. Concurrent bookings of one
 * account run one after the other, so no update is lost and every line has its balance.
 * @returns for each call what was booked, or why it was refused; undefined if it was left out, because its account is locked
 * @throws Problem already_exists, for all of them, if the client has a transaction with a given identifier
 */
export async function bookTransactions(
  tx: Transaction,
  calls: readonly BookingCall[],
  options: BookingOptions = {},
): Promise<(TransactionRecord | Problem | undefined)[]> {
  const wanted = calls.map((call): WantedBooking | ReadBooking => {
    const booking = attempt(() => readBooking(call.input, call.act.now));
    return booking instanceof Problem ? { ...call, fault: booking } : { ...call, ...booking };
  });
  const { refused, locked } = await judgeBookings(tx, wanted, options.whenLocked);
  const claims = wanted.flatMap((booking, index) => {
    if (!('valued' in booking) || refused.has(index) || locked.has(index)) return [];
    booking.id ??= randomUUID();
    return [{ id: booking.id, clientId: booking.input.client_id, booking, index }];
  });
  const given = claims.flatMap(({ booking }) => booking.input.transaction_id ?? []);
  noteChosen(tx, 'transaction', given);
  // For several, the index would refuse all of them because of one.
  const taken = await existingIds(tx, IDS, calls.length > 1 ? given : []);
  for (const { id, index } of claims) if (taken.has(id)) refused.set(index, takenId('transaction_id'));
  const lost = new Set(await claimIds(tx, 'transaction_id', claims));
  for (const { index } of lost) refused.set(index, takenId('transaction_id'));
  const accepted = claims.filter(({ index }) => !refused.has(index));
  const booked = await writeBookings(
    tx,
    accepted.map(({ booking }) => booking),
    options,
  );
  const records = new Map(accepted.map(({ index }, place) => [index, booked[place]]));
  return calls.map((_, index) => refused.get(index) ?? records.get(index));
}

/** Reads a booking. @throws Problem invalid_body */
export function readBooking(input: TransactionInput, now: Date): Booking {
  const amount = decimal(input.amount.amount, 'amount.amount', { positive: true });
  const booked = moment(input.booking_datetime, 'booking_datetime') ?? now;
  const valued = moment(input.value_datetime, 'value_datetime') ?? booked;
  const debit = input.kind === 'DEBIT_TRANSACTION';
  if (input.payment_id != null && input.trade_id != null)
    throw new Problem('invalid_body', { field: 'trade_id', message: 'must not be given beside payment_id' });
  return {
    input,
    id: input.transaction_id,
    amount,
    debit,
    booked,
    valued,
    created: now,
    balance: '',
  };
}

/**
 * Locks the accounts of bookings until the transaction ends.
 * @returns why bookings are refused, and which are left out because their account is locked, by their index
 */
export async function judgeBookings(
  tx: Transaction,
  wanted: readonly WantedBooking[],
  whenLocked: WhenLocked = 'wait',
): Promise<{ refused: Map<number, Problem>; locked: Set<number> }> {
  const refused = new Map<number, Problem>();
  const locked = new Set<number>();
  const inputs = wanted.map(({ input }) => input);
  const [accounts, named] = await together([lockAccounts(tx, inputs, whenLocked), findNamed(tx, inputs)]);
  for (const booking of wanted) booking.account = accounts.get(accountKey(booking.input));
  const strangers = wanted.filter(({ account }) => !account).map(({ input }) => input.client_id);
  // A client that has the account exists.
  const waits = whenLocked === 'wait';
  const clients = strangers.length === 0 || !waits ? new Set() : await existingClients(tx, strangers);
  for (const [index, { input, fault, account }] of wanted.entries()) {
    // Whether it is locked or does not exist shows when somebody waits for it.
    if (!account && !waits) {
      locked.add(index);
      continue;
    }
    const problem =
      account || clients.has(input.client_id)
        ? (fault ?? accountFault(input, account) ?? namingFault(named, input))
        : noClient();
    if (problem) refused.set(index, problem);
  }
  return { refused, locked };
}

/** Why an account cannot take a booking: it does not exist, or it is in another currency. */
function accountFault(input: TransactionInput, account: CurrencyAccountRecord | undefined): Problem | undefined {
  if (!account)
    return new Problem('currency_account_not_found', {
      field: 'currency_account_id',
      message: 'does not exist for this client',
    });
  if (account.currency === input.amount.currency) return undefined;
  return new Problem('invalid_body', {
    field: 'amount.currency',
    message: `must be the account's currency, ${account.currency}`,
  });
}

/** The columns of a transaction. */
const COLUMNS: Columns<Booking> = TRANSACTION.written({
  transaction_id: ({ id }) => id,
  amount: signed,
  currency: ({ input }) => input.amount.currency,
  balance_after: ({ balance }) => balance,
  booking_datetime: ({ booked }) => booked,
  value_datetime: ({ valued }) => valued,
  created_at: ({ created }) => created,
});

/**
 * Writes bookings that `judgeBookings` of the same transaction has accepted, with identifiers that nobody else has. It writes the balances
 * of their accounts, the transactions, their audit rows and changes in the feed, and their notifications.
 */
export async function writeBookings(
  tx: Transaction,
  bookings: readonly ReadBooking[],
  { silent = false, imported = false }: BookingOptions = {},
): Promise<TransactionRecord[]> {
  if (bookings.length === 0) return [];
  moveBalances(tx, bookings);
  await writeRows(tx, 'transactions', COLUMNS, bookings);
  closeByDebits(tx, bookings.flatMap(namingDebits));
  const booked = bookings.map((booking) => {
    const transaction = shown(booking);
    return { ...booking, transaction, record: transactionRecord(booking.input, transaction) };
  });
  auditSteps(
    tx,
    [...Map.groupBy(booked, ({ act }) => act)].map(([act, own]) => ({
      act,
      entries: imported ? [] : own.map(auditOf),
      note: () => noteBookings(tx, act, own, imported ? 'import' : 'update'),
    })),
  );
  if (!silent)
    await notifyAll(
      tx,
      booked.map(({ act, input, transaction, traceparent }) => ({
        traceparent,
        clientId: input.client_id,
        type: input.kind,
        body: JSON.stringify({ data: [transaction] }),
        now: act.now,
      })),
    );
  return booked.map(({ record }) => record);
}

/** A booking in the form that holds use, if it is a debit that names a payment or a trade. */
function namingDebits({ input, id, amount, debit, act: { now } }: ReadBooking) {
  const { client_id: clientId, currency_account_id: accountId, payment_id: paymentId, trade_id: tradeId } = input;
  if (!debit || (paymentId == null && tradeId == null)) return [];
  return [{ clientId, accountId, transactionId: present(id), amount, paymentId, tradeId, now }];
}

type Booked = ReadBooking & { transaction: ReturnType<typeof shown>; record: TransactionRecord };

function auditOf({ input, transaction }: Booked): AuditEntry {
  const { transaction_id: entityId } = transaction;
  return { action: 'create', entity: 'transaction', entityId, clientId: input.client_id, after: transaction };
}

/** Notes the transactions of an act, and the resulting state of their accounts. */
function noteBookings(tx: Transaction, act: Act, booked: readonly Booked[], action: 'import' | 'update'): void {
  const accounts = new Map<string, CurrencyAccountRecord>();
  for (const { input, account, balance, record } of booked) {
    const { transaction_id: id, kind, amount } = record;
    noteRecord(tx, 'transaction', id, () => ({ text: JSON.stringify(record), kind, ...amount }));
    if (account) accounts.set(accountKey(input), { ...account, balance });
  }
  for (const account of accounts.values())
    noteChange(tx, act, {
      ...{ entity: 'currency_account', id: String(account.account_id), clientId: account.client_id },
      action,
      // The account's row is locked, so its text is final.
      known: () => ({ text: JSON.stringify(account) }),
    });
}

/** Gives each booking the balance after it, and each account its final balance. */
function moveBalances(tx: Transaction, bookings: readonly ReadBooking[]): void {
  const accounts = new Set<CurrencyAccountRecord>();
  for (const booking of bookings) {
    const { account } = booking;
    if (!account) throw new Error('a booking without its account is written');
    account.balance = sum(account.balance, signed(booking));
    booking.balance = account.balance;
    accounts.add(account);
  }
  const counts = new Map(
    [...Map.groupBy(bookings, ({ account }) => account)].map(([account, own]) => [
      account,
      Map.groupBy(own, ({ input }) => COUNTS[input.kind]),
    ]),
  );
  const moved = [...accounts];
  const list = new RowList(moved, (account) => account.client_id, {
    account_id: { type: 'bigint', of: (account) => account.account_id },
    balance: { type: 'numeric', of: (account) => account.balance },
    ...tableOf(Object.values(COUNTS), (column) => ({
      type: 'bigint',
      of: (account: CurrencyAccountRecord) => counts.get(account)?.get(column)?.length ?? 0,
    })),
  });
  const counted = Object.values(COUNTS)
    .map((column) => `${column} = a.${column} + ${list.at(column)}`)
    .join(', ');
  tx.later({
    name: list.named('currency-accounts-move'),
    text: `update currency_accounts a set balance = ${list.at('balance')}, ${counted} ${list.after('from')}
      where a.client_id = ${list.client} and a.account_id = ${list.at('account_id')}`,
    values: list.values,
  });
}

/** The change that a booking makes to its account's balance. */
function signed({ amount, debit }: Booking): string {
  return debit ? `-${amount}` : amount;
}

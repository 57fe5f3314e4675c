import { type AccountInput, createAccount } from '../../accounts/account.ts';
import { createCurrencyAccount } from '../../accounts/currency-account.ts';
import type { Transaction } from '../../database/database.ts';
import type { ImportScope } from '../../imports/kind.ts';
import { transactionImport } from '../../imports/kinds/transactions.ts';
import { addDays, londonDay, startOfLondonDay } from '../../values/calendar.ts';
import { DEMO_BANKS } from './banks.ts';
import { type ChosenClient, DEMO_CLIENTS, type DemoClient } from './institution.ts';
import { putRecords } from './records.ts';
import { Seeded } from './seeded.ts';

const SEED = 7;
const HOUR_MS = 3_600_000;
/** Days for which a currency account has transactions, and days between two of them. */
const HISTORY_DAYS = 360;
const INTERVAL_DAYS = 20;
const CURRENCIES = ['GBP', 'EUR', 'USD'];

/**
 * Creates the accounts that clients show to their payers, and currency accounts with a year of transactions. They have the same ids every
 * time.
 * @param chosen whether a client's accounts are created
 */
export async function putAccounts(tx: Transaction, scope: ImportScope, chosen: ChosenClient): Promise<void> {
  const random = new Seeded(SEED);
  const today = londonDay(scope.act.now);
  const transactions = [];
  let accountId = 0;
  for (const client of DEMO_CLIENTS) {
    const { client_id: clientId } = client;
    const accounts = bankAccounts(client, random);
    if (chosen(clientId)) for (const account of accounts) await createAccount(tx, scope.act, account);
    for (const currency of CURRENCIES) {
      accountId += 1;
      if (chosen(clientId)) await createCurrencyAccount(tx, scope.act, { clientId, currency, accountId });
      for (let age = HISTORY_DAYS; age > 0; age -= INTERVAL_DAYS) {
        const credit = age % (2 * INTERVAL_DAYS) === 0;
        const day = startOfLondonDay(addDays(today, -age)).getTime();
        const booked = new Date(day + random.whole(8, 17) * HOUR_MS).toISOString();
        transactions.push({
          client_id: clientId,
          currency_account_id: accountId,
          booking_datetime: booked,
          value_datetime: booked,
          ...transaction(random, credit, currency),
        });
      }
    }
  }
  const kept = transactions.filter(({ client_id: clientId }) => chosen(clientId));
  await putRecords(tx, scope, transactionImport, kept);
}

function bankAccounts({ client_id, client_name }: DemoClient, random: Seeded): AccountInput[] {
  return (
    [
      ['GBP', DEMO_BANKS[0]],
      ['EUR', DEMO_BANKS[1]],
    ] as const
  ).map(([currency, bank]) => ({
    client_id,
    currency,
    account_id: random.uuid(),
    account_details: [
      {
        account_name: client_name,
        account_address: '1 Lombard Street, London EC3V 9AA',
        account_number: bank?.iban ?? null,
        account_number_type: 'IBAN',
        bank_identifier: bank?.swift_code ?? null,
        bank_identifier_type: 'SWBIC',
      },
    ],
  }));
}

/** The content of a credit or a debit, independent of account and day. */
function transaction(random: Seeded, credit: boolean, currency: string) {
  const name = credit ? 'Customer receipts' : 'Supplier payments';
  const party = { account_name: name, bank_identifier_code: 'SWBIC' };
  const [least, most] = credit ? [40_000, 90_000] : [1_000, 30_000];
  return {
    transaction_id: random.uuid(),
    kind: credit ? ('CREDIT_INCOMING_TRANSACTION' as const) : ('DEBIT_TRANSACTION' as const),
    amount: { amount: `${random.whole(least, most)}.${random.whole(10, 99)}`, currency },
    transaction_reference: `${credit ? 'RCPT' : 'SUPP'}-${random.whole(10_000, 99_999)}`,
    transaction_information: credit ? 'Incoming funds' : 'Outgoing funds',
    ...(credit ? { debtor_name: name, debtor_account: party } : { creditor_name: name, creditor_account: party }),
  };
}

import { readAccounts } from '../accounts/account.ts';
import { readAccountDetails } from '../accounts/account-details.ts';
import { readCurrencyAccounts } from '../accounts/currency-account.ts';
import { readTransactions } from '../accounts/transaction-list.ts';
import { type Authorisation, readDecisions } from '../approvals/approval.ts';
import { readConfiguration } from '../approvals/configuration.ts';
import { type Change, keyOf, type RecordText } from '../audit/change.ts';
import { readBeneficiaries } from '../beneficiaries/beneficiary.ts';
import type { Db } from '../database/database.ts';
import type { Kind } from '../database/kinds.ts';
import { readCurrencies } from '../exchange/currency.ts';
import { readQuotes } from '../exchange/quote.ts';
import { readTrades } from '../exchange/trade.ts';
import { readApplications } from '../identity/applications/application.ts';
import { readClients } from '../identity/people/client.ts';
import { readContacts } from '../identity/people/contact.ts';
import { readMassPayments } from '../orders/mass/reading.ts';
import { findMassBeneficiary } from '../orders/mass-beneficiaries/reading.ts';
import { readMultipayments } from '../orders/multipayment.ts';
import { readPayments } from '../payments/payment.ts';
import type { Presentation } from '../payments/presentation.ts';
import { readStatements } from '../statements/history.ts';
import { readSubscriptions } from '../webhooks/history.ts';

/** What reading records needs besides the database. */
export interface RecordView {
  now: Date;
  presentation: Presentation;
}

/** Reads the records of changes. */
type Reader = (db: Db, changes: readonly Change[], view: RecordView) => Promise<Map<string, RecordText>>;

/** A reader whose rows are written unchanged. */
function rows<Row extends object>(
  read: (db: Db, ids: string[], view: RecordView) => Promise<Row[]>,
  idOf: (row: Row) => string | number,
  counted?: (row: Row) => Omit<RecordText, 'text'>,
): Reader {
  return async (db, changes, view) => {
    const found = await read(
      db,
      changes.map(({ id }) => id),
      view,
    );
    return new Map(found.map((row) => [String(idOf(row)), { text: JSON.stringify(row), ...counted?.(row) }]));
  };
}

type ClientReader = (db: Db, clientId: string, ...rest: [readonly Change[], RecordView]) => ReturnType<Reader>;

/** A reader whose statement names one client. It runs for each client of the changes. */
function ofEachClient(read: ClientReader): Reader {
  return async (db, changes, view) => {
    const records = new Map<string, RecordText>();
    for (const [clientId, own] of Map.groupBy(changes, (change) => change.clientId ?? '')) {
      for (const [id, record] of await read(db, clientId, own, view)) records.set(id, record);
    }
    return records;
  };
}

/** How the records of each kind are read: in the form of the operator's GET. */
const READERS: Record<Kind, Reader> = {
  client: rows(readClients, (row) => row.client_id),
  contact: rows(readContacts, (row) => row.contact_id),
  application: rows(readApplications, (row) => row.client_id),
  account: rows(readAccounts, (row) => row.account_id),
  currency_account: rows(readCurrencyAccounts, (row) => row.account_id),
  beneficiary: rows(readBeneficiaries, (row) => row.beneficiary_id),
  trade: rows(
    (db, ids, { presentation }) => readTrades(db, presentation.apiUrl, ids),
    (row) => row.trade_id,
  ),
  quote: rows(
    (db, ids, { now }) => readQuotes(db, ids, now),
    (row) => row.quote_id,
  ),
  multipayment: rows(readMultipayments, (row) => row.multipayment_id),
  mass_payment: rows(
    (db, ids) => readMassPayments(db, ids),
    (row) => row.mass_payment_id,
  ),
  mass_beneficiary: rows(
    async (db, ids) => {
      const found = [];
      for (const id of ids) found.push(await findMassBeneficiary(db, id));
      return found;
    },
    (row) => row.mass_beneficiary_id,
  ),
  transaction: rows(
    readTransactions,
    (row) => row.transaction_id,
    ({ kind, amount: { amount, currency } }) => ({ kind, amount, currency }),
  ),
  account_details: rows(readAccountDetails, (row) => row.account_details_id),
  currency: rows(readCurrencies, (row) => row.currency),
  approval_configuration: rows(
    async (db, ids) => {
      const found = [];
      for (const id of ids) {
        const { version, shown } = await readConfiguration(db, id);
        found.push({ client_id: id, version, ...shown });
      }
      return found;
    },
    (row) => row.client_id,
  ),
  subscription: ofEachClient(async (db, clientId, changes, view) =>
    rows(
      (each, ids) => readSubscriptions(each, clientId, ids),
      (row) => row.id,
    )(db, changes, view),
  ),
  statement_request: ofEachClient(async (db, clientId, changes, view) =>
    rows(
      (each, ids) => readStatements(each, clientId, ids),
      (row) => row.statement_id,
    )(db, changes, view),
  ),

  payment: ofEachClient(async (db, clientId, changes, { now, presentation }) => {
    const ids = changes.map(({ id }) => id);
    const found = await readPayments(db, presentation, now, { clientId, ids });
    return new Map(found.map(({ payment_id: id, ...record }) => [id, record]));
  }),

  approval: ofEachClient(async (db, clientId, changes, { now }) => {
    const paymentIds = changes.map(({ id }) => id.slice(0, id.indexOf('/')));
    const found = await readDecisions(db, clientId, paymentIds);
    return new Map(
      changes.map((change): [string, RecordText] => {
        const [paymentId = '', contactId] = change.id.split('/');
        const given = found.get(paymentId)?.findLast((each) => each.contact_id === contactId);
        return [change.id, { text: JSON.stringify(decision(paymentId, change, now, given)) }];
      }),
    );
  }),
};

/** An approval or a rejection in the form that the feed shows. */
function decision(paymentId: string, change: Change, now: Date, given: Authorisation | undefined): object {
  return {
    payment_id: paymentId,
    contact_id: change.id.slice(paymentId.length + 1),
    decision: given?.status === 2 ? 'reject' : 'authorise',
    level: given?.level ?? null,
    reason: change.reason ?? null,
    on_behalf_by: given?.on_behalf_by ?? null,
    at: now.toISOString(),
  };
}

/** Reads the current records of changes. @returns by the key of `keyOf`; a record that does not exist is missing */
export async function readRecords(
  db: Db,
  changes: readonly Change[],
  view: RecordView,
): Promise<Map<string, RecordText>> {
  const read = await Promise.all(
    [...Map.groupBy(changes, (change) => change.entity)].map(
      async ([entity, wanted]) => [entity, await READERS[entity](db, wanted, view)] as const,
    ),
  );
  return new Map(read.flatMap(([entity, found]) => [...found].map(([id, record]) => [keyOf(entity, id), record])));
}

import { createAccount } from '../accounts/account.ts';
import { createCurrencyAccount } from '../accounts/currency-account.ts';
import { replaceConfiguration } from '../approvals/configuration.ts';
import * as approvals from '../approvals/workflow.ts';
import { audit } from '../audit.ts';
import { addDays, londonDay, startOfLondonDay } from '../calendar.ts';
import type { Act, Context } from '../context.ts';
import { type Transaction, transaction } from '../database.ts';
import { SANDBOX_CLIENT_SUBJECT } from '../embedded/test-authority.ts';
import { createApplication } from '../identity/application.ts';
import { beneficiaryImport } from '../imports/beneficiaries.ts';
import { clientImport } from '../imports/clients.ts';
import { contactImport } from '../imports/contacts.ts';
import type { ImportKind, ImportRow, ImportScope } from '../imports/kind.ts';
import { paymentImport } from '../imports/payments.ts';
import { tradeImport } from '../imports/trades.ts';
import { transactionImport } from '../imports/transactions.ts';
import { LOCKS } from '../locks.ts';
import { createMassBeneficiary } from '../payments/mass-beneficiary.ts';
import { presentationOf } from '../payments/presentation.ts';
import { setRates } from '../quotes/exchange-rates.ts';
import {
  DEMO_APPLICATION,
  DEMO_BANKS,
  DEMO_BENEFICIARIES,
  DEMO_CLIENTS,
  DEMO_CONTACTS,
  DEMO_MASS_BENEFICIARY,
  DEMO_PASSWORD,
  DEMO_RATES,
  DEMO_RULESET,
} from './demonstration-data.ts';
import { type DemoPayment, demonstrationPayments, Seeded } from './demonstration-payments.ts';

const MULTIPAYMENTS = 6;
const HOUR = 3_600_000;

/**
 * Puts the demonstration institution into a database that has no client yet, in one transaction; does nothing otherwise.
 * It goes the importer's way, so that it is in within a second or two, and its approvals the approvers' way.
 * @returns whether it was made now
 */
export async function ensureDemonstration(context: Context): Promise<boolean> {
  const now = context.clock.now();
  const act: Act = { now, actor: 'service:demonstration', requestId: 'demonstration' };
  const scope: ImportScope = {
    act,
    vault: context.vault,
    presentation: presentationOf(context),
    notify: false,
  };
  return transaction(context.backgroundPool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.demonstration]);
    if ((await tx.query('select from clients limit 1')).rows.length > 0) return false;
    const today = londonDay(now);
    await putParties(tx, scope, today);
    await putAccounts(tx, scope, today);
    await putPayments(tx, scope, today);
    await createMassBeneficiary(tx, act, DEMO_MASS_BENEFICIARY);
    await setSequences(tx);
    return true;
  });
}

async function put<Input, Row extends ImportRow<Input>>(
  tx: Transaction,
  kind: ImportKind<Input, Row>,
  records: Input[],
  scope: ImportScope,
): Promise<void> {
  const rows = records.map((record, index) => kind.read(index + 1, record, scope));
  for (const refusals of [await kind.prepare?.(rows), await kind.check(tx, rows, scope)]) {
    for (const problem of refusals?.values() ?? []) throw problem;
  }
  await kind.insert(tx, rows, scope);
  await audit(tx, scope.act, {
    action: 'import',
    entity: kind.entity,
    entityId: 'demonstration',
    after: { accepted: rows.length },
  });
}

async function putParties(tx: Transaction, scope: ImportScope, today: string): Promise<void> {
  const { act, vault } = scope;
  await put(
    tx,
    clientImport,
    DEMO_CLIENTS.map(({ client_id, client_name, account_number }) => ({
      client_id,
      client_name,
      account_number,
      authorisation_workflow: '4-eyes' as const,
      payment_approvals_enabled: true,
      became_client: addDays(today, -800),
    })),
    scope,
  );
  await put(
    tx,
    contactImport,
    DEMO_CONTACTS.map((contact) => ({
      ...contact,
      password: DEMO_PASSWORD,
      phone: '+44 20 7946 0000',
      trusted_access: true,
    })),
    scope,
  );
  await put(
    tx,
    beneficiaryImport,
    DEMO_CLIENTS.flatMap(({ client_id }, clientIndex) =>
      DEMO_BANKS.map(({ country: _country, scheme: _scheme, ...bank }, index) => ({
        client_id,
        beneficiary_id: `BEN${String(clientIndex * DEMO_BANKS.length + index + 1).padStart(6, '0')}`,
        beneficiary_name: DEMO_BENEFICIARIES[client_id]?.[index] ?? 'Beneficiary',
        beneficiary_aml_id: `AML-${String(clientIndex * DEMO_BANKS.length + index + 1).padStart(5, '0')}`,
        ...bank,
      })),
    ),
    scope,
  );
  await setRates(tx, act, { base_currency: 'GBP', rates: DEMO_RATES });
  const { client_secret: secret, redirect_uri: redirect, ...application } = DEMO_APPLICATION;
  await createApplication(tx, act, vault, {
    ...application,
    redirect_uris: [redirect],
    // The client certificate that the sandbox makes, so that the trusted address can be tried too.
    certificate_subjects: [SANDBOX_CLIENT_SUBJECT],
    trusted_clients: DEMO_CLIENTS.map(({ client_id }) => client_id),
  });
  // A secret that everybody knows, so that printed commands work as they stand.
  await tx.query('update application_secrets set secret = $2 where application_id = $1', [
    application.client_id,
    vault.seal(secret, 'application_secrets'),
  ]);
}

/** Accounts that clients show to their payers, and currency accounts with a year of movements. */
async function putAccounts(tx: Transaction, scope: ImportScope, today: string): Promise<void> {
  const random = new Seeded(7);
  const transactions = [];
  for (const { client_id, client_name } of DEMO_CLIENTS) {
    for (const [currency, bank] of [
      ['GBP', DEMO_BANKS[0]],
      ['EUR', DEMO_BANKS[1]],
    ] as const) {
      await createAccount(tx, scope.act, {
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
      });
    }
    for (const currency of ['GBP', 'EUR', 'USD']) {
      const account = await createCurrencyAccount(tx, scope.act, client_id, currency);
      for (let age = 360; age > 0; age -= 20) {
        const credit = age % 40 === 0;
        const booked = new Date(
          startOfLondonDay(addDays(today, -age)).getTime() + random.whole(8, 17) * HOUR,
        ).toISOString();
        const party = {
          account_name: credit ? 'Customer receipts' : 'Supplier payments',
          bank_identifier_code: 'SWBIC',
        };
        transactions.push({
          client_id,
          currency_account_id: account.account_id,
          transaction_id: random.uuid(),
          kind: credit ? ('CREDIT_INCOMING_TRANSACTION' as const) : ('DEBIT_TRANSACTION' as const),
          amount: {
            amount: `${random.whole(credit ? 40_000 : 1_000, credit ? 90_000 : 30_000)}.${random.whole(10, 99)}`,
            currency,
          },
          transaction_reference: `${credit ? 'RCPT' : 'SUPP'}-${random.whole(10_000, 99_999)}`,
          transaction_information: credit ? 'Incoming funds' : 'Outgoing funds',
          ...(credit
            ? { debtor_name: 'Customer receipts', debtor_account: party }
            : { creditor_name: 'Supplier payments', creditor_account: party }),
          booking_datetime: booked,
          value_datetime: booked,
        });
      }
    }
  }
  await put(tx, transactionImport, transactions, scope);
}

/** Payments go in pending, get their approvals, and are then given the state that they have reached. */
async function putPayments(tx: Transaction, scope: ImportScope, today: string): Promise<void> {
  const { payments, trades } = demonstrationPayments(today, scope.act.now);
  await put(tx, tradeImport, trades as Parameters<typeof tradeImport.read>[1][], scope);
  await replaceConfiguration(tx, scope.act, 'CLI000002', DEMO_RULESET);
  await put(
    tx,
    paymentImport,
    payments.map((payment) => ({ ...payment.given, status: 'Payment pending of authorization' as const })),
    scope,
  );
  const { rows } = await tx.query<{ id: number; payment_id: string }>('select id, payment_id from payments');
  const ids = new Map(rows.map((row) => [row.payment_id, row.id]));
  const reached = [];
  for (const payment of payments)
    reached.push(await decide(tx, payment, ids.get(payment.given.payment_id) as number, scope.act.now));
  await tx.query(
    `update payments p set status = u.status::payment_status, authorised_by = u.authorised_by, authorised_date = u.authorised_date,
       rejected_by = u.rejected_by, rejected_date = u.rejected_date, cancelled_by = u.cancelled_by, cancelled_date = u.cancelled_date, sent_date = u.sent_date
     from json_to_recordset($1) as u(id bigint, status text, authorised_by text, authorised_date timestamptz, rejected_by text, rejected_date timestamptz,
       cancelled_by text, cancelled_date timestamptz, sent_date timestamptz) where p.id = u.id`,
    [JSON.stringify(reached)],
  );
  await putMultipayments(tx, payments, ids);
}

/** What the approvers and the institution did with a payment. */
async function decide(tx: Transaction, payment: DemoPayment, id: number, now: Date): Promise<Record<string, unknown>> {
  const { given, status } = payment;
  const state: Record<string, unknown> = { id, status };
  if (status === 'Payment pending of authorization') return state;
  const clientId = given.client_id;
  const decided = new Date(Math.min(payment.created.getTime() + 2 * HOUR, now.getTime()));
  if (status === 'Payment cancelled') {
    await approvals.closeApproval(tx, { clientId, id, status: 'Cancelled' });
    return { ...state, cancelled_by: given.contact_id, cancelled_date: decided };
  }
  for (;;) {
    const { rows } = await tx.query<{ contact_id: string }>(
      'select contact_id from payment_approvers where client_id = $1 and payment_id = $2 and may_authorise order by contact_id desc limit 1',
      [clientId, id],
    );
    const contactId = rows[0]?.contact_id;
    if (contactId === undefined) throw new Error(`nobody can approve ${given.payment_id} of the demonstration`);
    if (status === 'Payment rejected') {
      await approvals.reject(tx, { clientId, id, contactId, now: decided });
      return { ...state, rejected_by: contactId, rejected_date: decided };
    }
    const { complete } = await approvals.authorise(tx, { clientId, id, contactId, now: decided });
    if (!complete) continue;
    const sent = status === 'Payment complete' || status === 'Executing Payment';
    const day = startOfLondonDay(given.payment_date).getTime() + 9 * HOUR;
    return {
      ...state,
      authorised_by: contactId,
      authorised_date: decided,
      sent_date: sent ? new Date(Math.min(Math.max(day, decided.getTime()), now.getTime())) : null,
    };
  }
}

async function putMultipayments(tx: Transaction, payments: DemoPayment[], ids: Map<string, number>): Promise<void> {
  const random = new Seeded(11);
  for (let index = 0; index < MULTIPAYMENTS; index += 1) {
    const own = payments.filter((payment) => payment.multipayment === index);
    const first = own[0];
    if (!first) continue;
    const { client_id: clientId, contact_id: contactId } = first.given;
    await tx.query(
      `insert into multipayments (multipayment_id, client_id, multipayment_unique_id, contact_id, status, created_at) values ($1, $2, $3, $4, 'created', $5)`,
      [index + 1, clientId, random.uuid(), contactId, first.created],
    );
    await tx.query('update payments set multipayment_id = $3 where client_id = $1 and id = any($2::bigint[])', [
      clientId,
      own.map((payment) => ids.get(payment.given.payment_id)),
      index + 1,
    ]);
    await tx.query('update trades set multipayment_id = $3 where client_id = $1 and trade_id = any($2)', [
      clientId,
      own.map((payment) => payment.given.trade_id),
      index + 1,
    ]);
  }
}

/** Made identifiers go on after those of the demonstration. */
async function setSequences(tx: Transaction): Promise<void> {
  await tx.query(`select setval(s.name::regclass, greatest(s.used, 1)) from (values
    ('client_numbers', (select count(*) from clients)), ('contact_numbers', (select count(*) from contacts)),
    ('beneficiary_numbers', (select count(*) from beneficiaries)), ('trade_numbers', (select count(*) from trades)),
    ('payment_numbers', (select count(*) from payments)), ('multipayment_numbers', (select count(*) from multipayments))) as s (name, used)`);
}

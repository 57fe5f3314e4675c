import { type Columns, copyRows } from '../../database/copy.ts';
import type { Transaction } from '../../database/database.ts';
import { joinTrades } from '../../exchange/trade-beneficiaries.ts';
import type { NewPayment, PaymentHistory } from '../../payments/new-payment.ts';
import type { PaymentId, PaymentNumber } from '../../values/identifiers.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { asDecimal, type Comparison, type ImportKind, Refusals, sameNames } from '../kind.ts';
import { checkClients, checkContacts, checkOwned, findPayees, pairKey } from '../references.ts';
import { findRequirements, openApprovals } from './approvals.ts';
import { notifyImported } from './payment-notices.ts';
import { createRecordWriter } from './payment-record.ts';
import { type ImportedPayment, type PaymentImportRow, readMoment, readPayment, statusOf } from './payment-row.ts';

const IDS = { table: 'payments', column: 'payment_id', make: fromSequence('payment_numbers', 'PAY') };

const COLUMNS: Columns<PaymentImportRow, NewPayment & PaymentHistory> = {
  client_id: ({ input }) => input.client_id,
  payment_id: ({ id }) => id as PaymentId,
  contact_id: ({ input }) => input.contact_id,
  trade_id: ({ input }) => input.trade_id,
  beneficiary_id: ({ input }) => input.beneficiary_id,
  uuid: ({ uuid }) => uuid,
  scheme: ({ input }) => input.scheme ?? 'SWIFT',
  amount: ({ amount }) => amount,
  payment_currency: ({ input }) => input.payment_currency,
  fee_amount: ({ fee }) => fee,
  fee_currency: ({ input }) => input.fee_currency,
  reference: ({ input }) => input.reference,
  status: statusOf,
  charges: ({ input }) => input.charges,
  invoice_required: ({ input }) => input.invoice_required ?? false,
  ordered_by_name: ({ creatorName }) => creatorName,
  created: ({ created }) => created,
  payment_date: ({ input }) => input.payment_date,
  authorised_by: ({ input }) => input.authorised_by,
  authorised_date: ({ authorised }) => authorised,
  cancelled_by: ({ input }) => input.cancelled_by,
  cancelled_date: ({ cancelled }) => cancelled,
  rejected_by: ({ input }) => input.rejected_by,
  rejected_date: ({ rejected }) => rejected,
  sent_date: ({ sent }) => sent,
  authorisation_workflow: ({ workflow }) => workflow,
  mass_payment_id: ({ input }) => input.mass_payment_id,
  mass_payment_external_reference_id: ({ input }) => input.mass_payment_external_reference_id,
  beneficiary_name: ({ payee }) => payee?.beneficiary_name as string,
  account_number: ({ payee }) => payee?.account_number,
  iban: ({ payee }) => payee?.iban,
  swift_code: ({ payee }) => payee?.swift_code,
  bank_identifier: ({ payee }) => payee?.bank_identifier,
};

const INSTANTS = ['authorised_date', 'cancelled_date', 'rejected_date', 'sent_date'];
const asInstant = (value: unknown) => (value instanceof Date ? value : readMoment(value as string, ''))?.getTime();

const COMPARISON: Comparison = {
  table: 'payments',
  id: 'payment_id',
  fields: {
    ...sameNames('client_id', 'contact_id', 'trade_id', 'beneficiary_id', 'amount', 'payment_currency', 'payment_date'),
    ...sameNames('reference', 'fee_amount', 'fee_currency', 'charges', 'scheme', 'invoice_required', 'mass_payment_id'),
    ...sameNames(
      'mass_payment_external_reference_id',
      'status',
      'uuid',
      'authorised_by',
      'cancelled_by',
      'rejected_by',
    ),
    ...sameNames(...INSTANTS),
    created_date: 't.created',
  },
  forms: {
    amount: asDecimal,
    fee_amount: asDecimal,
    created_date: asInstant,
    ...Object.fromEntries(INSTANTS.map((name) => [name, asInstant])),
  },
  chosen: ['sent_date'],
};

/**
 * Payments (docs/imports.md). A payment without a status is treated like a single one: its approval is opened where one is
 * needed, otherwise it is validated next. One with a status has that status; where it is pending, its approval is opened.
 */
export const paymentImport: ImportKind<ImportedPayment, PaymentImportRow> = {
  entity: 'payment',
  batchRows: 4_000,
  claims: [
    { field: 'payment_id', id: ({ id }) => id },
    // Made ones are random.
    { field: 'uuid', id: ({ input }) => input.uuid },
  ],
  comparison: COMPARISON,

  read: (line, input, { act }) => readPayment(line, input, act.now),

  async check(tx, rows, scope) {
    const refusals = new Refusals();
    const clients = await checkClients(tx, rows, refusals);
    const names = await checkContacts(tx, rows, refusals);
    await checkOwned(tx, rows, refusals, { table: 'trades', column: 'trade_id', code: 'trade_not_found' });
    const payees = await findPayees(tx, rows, refusals);
    for (const row of rows) {
      const { client_id: clientId, contact_id: contactId } = row.input;
      row.creatorName = names.get(pairKey(clientId, contactId)) ?? '';
      row.workflow = clients.get(clientId)?.workflow ?? '';
      row.payee = payees.get(pairKey(clientId, row.input.beneficiary_id));
    }
    const open = rows.filter(
      ({ line, input }) => !refusals.has(line) && clients.get(input.client_id)?.approvalsEnabled,
    );
    await findRequirements(tx, scope.act, open, refusals);
    await resolveIds(tx, rows, refusals, IDS);
    return refusals;
  },

  async insert(tx, rows, scope) {
    await joinTrades(
      tx,
      scope.act,
      rows.map(({ input }) => input),
      { action: 'import', memory: scope.trades },
    );
    await copyRows(tx, 'payments', COLUMNS, rows);
    const open = rows.filter(({ requirement }) => requirement !== null);
    if (open.length === 0 && !scope.notify) return;
    const ids = await idsOf(tx, scope.notify ? rows : open);
    await openApprovals(tx, { ...scope.act, quiet: !scope.notify }, open, ids);
    if (scope.notify) await notifyImported(tx, scope, rows, ids);
  },

  records: createRecordWriter,
};

/** The number of each payment that is stored, by payment_id. */
async function idsOf(tx: Transaction, rows: PaymentImportRow[]): Promise<Map<string, PaymentNumber>> {
  const found = await tx.query<{ id: PaymentNumber; payment_id: string }>(
    `select p.id, p.payment_id from unnest($1::text[], $2::text[]) as w (client_id, payment_id) cross join lateral (
       select id, payment_id from payments where client_id = w.client_id and payment_id = w.payment_id offset 0) p`,
    [rows.map(({ input }) => input.client_id), rows.map(({ id }) => id)],
  );
  return new Map(found.rows.map((row) => [row.payment_id, row.id]));
}

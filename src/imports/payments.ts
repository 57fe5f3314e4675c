import { randomUUID } from 'node:crypto';
import type { Requirement } from '../approvals/workflow.ts';
import { isCalendarDay, parseInstant, startOfLondonDay } from '../calendar.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { decimal } from '../money.ts';
import type { PaymentGiven } from '../payments/creation.ts';
import type { PaymentStatus, PaymentWebhookStatus } from '../payments/moves.ts';
import { paymentBodies } from '../payments/payment.ts';
import { notifyAll } from '../webhooks/notification.ts';
import { findRequirements, openApprovals } from './approvals.ts';
import { type CopyValue, copyRows } from './copy.ts';
import { type ImportKind, type ImportScope, type Numbered, Refusals } from './kind.ts';
import { findClients, findContactNames, findMissing, nextIds, pairKey, settleIds } from './lookups.ts';

/** A payment as the core has it: besides what creates one, how far it has come, and when. */
export interface ImportedPayment extends PaymentGiven {
  status?: PaymentStatus;
  uuid?: string;
  created_date?: string;
  authorised_by?: string | null;
  authorised_date?: string | null;
  cancelled_by?: string | null;
  cancelled_date?: string | null;
  rejected_by?: string | null;
  rejected_date?: string | null;
  sent_date?: string | null;
}

export interface PaymentRow {
  given: ImportedPayment;
  paymentId: string | undefined;
  amount: string;
  fee: string | null;
  status: PaymentStatus | undefined;
  created: Date;
  authorised: Date | null;
  cancelled: Date | null;
  rejected: Date | null;
  sent: Date | null;
  creatorName: string;
  workflow: string;
  requirement: Requirement | null;
}

const PENDING: PaymentStatus = 'Payment pending of authorization';
const VALIDATING: PaymentStatus = 'Validating beneficiary information';

const COLUMNS = [
  'client_id',
  'payment_id',
  'contact_id',
  'trade_id',
  'beneficiary_id',
  'uuid',
  'scheme',
  'amount',
  'payment_currency',
  'fee_amount',
  'fee_currency',
  'reference',
  'status',
  'charges',
  'invoice_required',
  'ordered_by_name',
  'created',
  'payment_date',
  'authorised_by',
  'authorised_date',
  'cancelled_by',
  'cancelled_date',
  'rejected_by',
  'rejected_date',
  'sent_date',
  'authorisation_workflow',
  'mass_payment_id',
  'mass_payment_external_reference_id',
] as const;

/**
 * Payments (docs/imports.md). A payment without a status goes the way of a single one: its approval is opened where one is
 * needed, else it is validated next. One with a status has it; where it is pending of authorization its approval is opened.
 */
export const paymentImport: ImportKind<ImportedPayment, PaymentRow> = {
  entity: 'payment',
  batchLines: 2_000,

  read(given, { act }) {
    if (!isCalendarDay(given.payment_date))
      throw new Problem('invalid_body', { field: 'payment_date', message: 'must be a calendar day, YYYY-MM-DD' });
    belongs(given, 'cancelled', 'Payment cancelled');
    belongs(given, 'rejected', 'Payment rejected');
    const created = moment(given.created_date, 'created_date') ?? act.now;
    return {
      given,
      paymentId: given.payment_id,
      amount: decimal(given.amount, 'amount', { positive: true }),
      fee: given.fee_amount == null ? null : decimal(given.fee_amount, 'fee_amount'),
      status: given.status,
      created,
      authorised: moment(given.authorised_date, 'authorised_date'),
      cancelled: moment(given.cancelled_date, 'cancelled_date'),
      rejected: moment(given.rejected_date, 'rejected_date'),
      sent: moment(given.sent_date, 'sent_date') ?? sentByStatus(given, created, act.now),
      creatorName: '',
      workflow: '',
      requirement: null,
    };
  },

  async check(tx, rows, scope) {
    const refusals = new Refusals();
    const clients = await findClients(
      tx,
      rows.map(({ row }) => row.given.client_id),
    );
    const names = await findContactNames(
      tx,
      rows.map(({ row: { given } }) => [given.client_id, given.contact_id]),
    );
    const noTrade = await findMissing(
      tx,
      'trades',
      'trade_id',
      rows.map(({ row: { given } }) => [given.client_id, given.trade_id]),
    );
    const noBeneficiary = await findMissing(
      tx,
      'beneficiaries',
      'beneficiary_id',
      rows.map(({ row: { given } }) => [given.client_id, given.beneficiary_id]),
    );
    for (const { line, row } of rows) {
      const {
        client_id: clientId,
        contact_id: contactId,
        trade_id: tradeId,
        beneficiary_id: beneficiaryId,
      } = row.given;
      const client = clients.get(clientId);
      const name = names.get(pairKey(clientId, contactId));
      if (!client) refusals.refuse(line, 'client_not_found', { field: 'client_id', message: 'is no client' });
      else if (name === undefined)
        refusals.refuse(line, 'contact_not_found', { field: 'contact_id', message: 'is no contact of the client' });
      else if (noTrade.has(pairKey(clientId, tradeId)))
        refusals.refuse(line, 'trade_not_found', { field: 'trade_id', message: 'is no trade of the client' });
      else if (noBeneficiary.has(pairKey(clientId, beneficiaryId)))
        refusals.refuse(line, 'beneficiary_not_found', {
          field: 'beneficiary_id',
          message: 'is no beneficiary of the client',
        });
      else {
        row.creatorName = name;
        row.workflow = client.workflow;
      }
    }
    await findRequirements(tx, rows, clients, refusals, scope);
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'payments', column: 'payment_id' },
      {
        get: (row) => row.paymentId,
        set: (row, id) => {
          row.paymentId = id;
        },
      },
      (count) => nextIds(tx, 'payment_numbers', 'PAY', count),
    );
    return refusals;
  },

  async insert(tx, rows, scope) {
    await copyRows(tx, 'payments', COLUMNS, copied(rows));
    const open = rows.filter(({ row }) => row.requirement !== null);
    if (open.length > 0) await openApprovals(tx, open, await idsOf(tx, open));
    if (scope.notify) await notifyImported(tx, rows, scope);
  },
};

function* copied(rows: Numbered<PaymentRow>[]): Generator<CopyValue[]> {
  for (const { row } of rows) {
    const { given } = row;
    yield [
      given.client_id,
      row.paymentId,
      given.contact_id,
      given.trade_id,
      given.beneficiary_id,
      given.uuid ?? randomUUID(),
      given.scheme ?? 'SWIFT',
      row.amount,
      given.payment_currency,
      row.fee,
      given.fee_currency,
      given.reference,
      statusOf(row),
      given.charges,
      given.invoice_required ?? false,
      row.creatorName,
      row.created,
      given.payment_date,
      given.authorised_by,
      row.authorised,
      given.cancelled_by,
      row.cancelled,
      given.rejected_by,
      row.rejected,
      row.sent,
      row.workflow,
      given.mass_payment_id,
      given.mass_payment_external_reference_id,
    ];
  }
}

function statusOf(row: PaymentRow): PaymentStatus {
  return row.status ?? (row.requirement ? PENDING : VALIDATING);
}

/** payments.id of rows that are in, by their payment_id. */
async function idsOf(tx: Transaction, rows: Numbered<PaymentRow>[]): Promise<Map<string, number>> {
  const found = await tx.query<{ id: number; payment_id: string }>(
    'select id, payment_id from payments where payment_id = any($1)',
    [rows.map(({ row }) => row.paymentId)],
  );
  return new Map(found.rows.map((row) => [row.payment_id, row.id]));
}

/** What a status is told as, after CREATED. */
const TOLD: Record<PaymentStatus, PaymentWebhookStatus> = {
  [PENDING]: 'PENDING_OF_AUTHORIZATION',
  [VALIDATING]: 'AUTHORIZED',
  'Need more beneficiary information': 'AUTHORIZED',
  'Waiting for payment date': 'AUTHORIZED',
  'Executing Payment': 'SENT',
  'Payment complete': 'SENT',
  'Payment rejected': 'REJECTED',
  'Payment cancelled': 'CANCELLED',
};

async function notifyImported(
  tx: Transaction,
  rows: Numbered<PaymentRow>[],
  { act, presentation }: ImportScope,
): Promise<void> {
  const ids = await idsOf(tx, rows);
  const bodies = new Map<string, string>();
  for (const clientId of new Set(rows.map(({ row }) => row.given.client_id))) {
    const own = rows.filter(({ row }) => row.given.client_id === clientId).map(({ row }) => row.paymentId as string);
    const texts = await paymentBodies(
      tx,
      { clientId, viewer: null, now: act.now, ...presentation },
      own.map((id) => ids.get(id) as number),
    );
    own.forEach((id, index) => {
      bodies.set(id, texts[index] as string);
    });
  }
  await notifyAll(
    tx,
    rows.flatMap(({ row }) =>
      (['CREATED', TOLD[statusOf(row)]] as const).map((status) => ({
        clientId: row.given.client_id,
        type: 'PAYMENT_STATUS_CHANGE' as const,
        body: `{"data":[${bodies.get(row.paymentId as string)}],"payment_webhook_status":["${status}"]}`,
        now: act.now,
      })),
    ),
  );
}

/** Who cancelled or rejected, and when, stands only on a payment of that status. */
function belongs(given: ImportedPayment, what: 'cancelled' | 'rejected', status: PaymentStatus): void {
  if (given.status === status) return;
  for (const field of [`${what}_by`, `${what}_date`] as const) {
    if (given[field] != null)
      throw new Problem('invalid_body', {
        field: `${field}`,
        message: `only a payment with the status "${status}" has it`,
      });
  }
}

/** A payment that is executed or complete was sent: on its payment date where the core does not say when. */
function sentByStatus(given: ImportedPayment, created: Date, now: Date): Date | null {
  if (given.status !== 'Executing Payment' && given.status !== 'Payment complete') return null;
  const day = Math.min(startOfLondonDay(given.payment_date).getTime(), now.getTime());
  return new Date(Math.max(day, created.getTime()));
}

/** An instant of the core: ISO 8601 with an offset, or a day, which is its London midnight. */
function moment(text: string | null | undefined, field: string): Date | null {
  if (text == null) return null;
  const instant = parseInstant(text) ?? (isCalendarDay(text) ? startOfLondonDay(text) : undefined);
  if (!instant)
    throw new Problem('invalid_body', {
      field: `${field}`,
      message: 'must be a day or an ISO 8601 timestamp with an offset',
    });
  return instant;
}

import { randomUUID } from 'node:crypto';
import * as approvals from '../approvals/workflow.ts';
import { audit } from '../audit.ts';
import { isCalendarDay } from '../calendar.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { decimal } from '../money.ts';
import { nextId } from '../rows.ts';
import { notifyPayment } from './lifecycle.ts';
import type { Presentation } from './presentation.ts';

/** Payment schemes; only SWIFT payments can be tracked by their uuid. */
export const SCHEMES = [
  'SWIFT',
  'SEPA',
  'SEPA_INSTANT',
  'FPS',
  'BACS',
  'CHAPS',
  'ACH',
  'FEDWIRE',
  'TARGET2',
  'LOCAL',
  'INTERNAL',
] as const;
export type Scheme = (typeof SCHEMES)[number];

export interface PaymentGiven {
  client_id: string;
  /** The creator. */
  contact_id: string;
  trade_id: string;
  beneficiary_id: string;
  amount: number | string;
  payment_currency: string;
  payment_date: string;
  payment_id?: string;
  reference?: string | null;
  fee_amount?: number | string | null;
  fee_currency?: string | null;
  charges?: string | null;
  scheme?: Scheme;
  invoice_required?: boolean;
  mass_payment_id?: string | null;
  mass_payment_external_reference_id?: string | null;
}

/**
 * Creates a payment, opens its approval where one is needed, and notifies CREATED and what follows it (docs/decisions.md, 3).
 * @returns payments.id
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, beneficiary_not_found, exchange_rate_missing, invalid_body
 */
export async function createPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  given: PaymentGiven,
  options: { multipaymentId?: number; inside?: string } = {},
): Promise<number> {
  const inside = options.inside ?? '';
  const amount = decimal(given.amount, `${inside}amount`, { positive: true });
  const fee = given.fee_amount == null ? null : decimal(given.fee_amount, `${inside}fee_amount`);
  if (!isCalendarDay(given.payment_date))
    throw new Problem('invalid_body', {
      field: `${inside}payment_date`,
      message: 'must be a calendar day, YYYY-MM-DD',
    });
  const parties = await findParties(tx, given, inside);
  const requirement = await approvals.requirementFor(tx, {
    clientId: given.client_id,
    creatorId: given.contact_id,
    amount,
    currency: given.payment_currency,
    now: act.now,
  });
  const paymentId = given.payment_id ?? (await nextId(tx, 'payment_numbers', 'PAY'));
  const status = requirement ? 'Payment pending of authorization' : 'Validating beneficiary information';
  const { rows } = await tx.query<{ id: number }>(
    `insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, fee_amount, fee_currency,
       reference, status, charges, invoice_required, ordered_by_name, created, payment_date, authorisation_workflow, mass_payment_id,
       mass_payment_external_reference_id, multipayment_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) returning id`,
    [
      given.client_id,
      paymentId,
      given.contact_id,
      given.trade_id,
      given.beneficiary_id,
      randomUUID(),
      given.scheme ?? 'SWIFT',
      amount,
      given.payment_currency,
      fee,
      given.fee_currency ?? null,
      given.reference ?? null,
      status,
      given.charges ?? null,
      given.invoice_required ?? false,
      parties.creatorName,
      act.now,
      given.payment_date,
      parties.workflow,
      given.mass_payment_id ?? null,
      given.mass_payment_external_reference_id ?? null,
      options.multipaymentId ?? null,
    ],
  );
  const id = rows[0]?.id as number;
  if (requirement) {
    const opened = await approvals.openApproval(
      tx,
      { id, clientId: given.client_id, created: act.now, paymentDate: given.payment_date },
      requirement,
    );
    // Creation can be the approval that was needed, where the client lets creators approve.
    if (opened.complete) {
      await tx.query(
        `update payments set status = 'Validating beneficiary information', authorised_by = contact_id, authorised_date = $3 where client_id = $1 and id = $2`,
        [given.client_id, id, act.now],
      );
      await notifyPayment(tx, act, presentation, given.client_id, id, 'CREATED', 'AUTHORIZED');
    } else await notifyPayment(tx, act, presentation, given.client_id, id, 'CREATED', 'PENDING_OF_AUTHORIZATION');
  } else await notifyPayment(tx, act, presentation, given.client_id, id, 'CREATED', 'AUTHORIZED');
  await audit(tx, act, {
    action: 'create',
    entity: 'payment',
    entityId: paymentId,
    clientId: given.client_id,
    after: { ...given, amount, fee_amount: fee, payment_id: paymentId, status },
  });
  return id;
}

interface Parties {
  creatorName: string;
  workflow: string;
}

/** The client, its contact, its trade and its beneficiary: each must exist and belong to the client. */
async function findParties(tx: Transaction, given: PaymentGiven, inside: string): Promise<Parties> {
  const { rows } = await tx.query<{
    workflow: string | null;
    creator: string | null;
    trade: boolean;
    beneficiary: boolean;
  }>(
    `select (select authorisation_workflow from clients where client_id = $1) as workflow,
       (select c.name from contacts c join contact_clients cc using (contact_id) where cc.client_id = $1 and c.contact_id = $2) as creator,
       exists (select from trades where client_id = $1 and trade_id = $3) as trade,
       exists (select from beneficiaries where client_id = $1 and beneficiary_id = $4) as beneficiary`,
    [given.client_id, given.contact_id, given.trade_id, given.beneficiary_id],
  );
  const found = rows[0];
  if (!found?.workflow) throw new Problem('client_not_found', { field: `${inside}client_id`, message: 'is no client' });
  if (found.creator === null)
    throw new Problem('contact_not_found', { field: `${inside}contact_id`, message: 'is no contact of the client' });
  if (!found.trade)
    throw new Problem('trade_not_found', { field: `${inside}trade_id`, message: 'is no trade of the client' });
  if (!found.beneficiary)
    throw new Problem('beneficiary_not_found', {
      field: `${inside}beneficiary_id`,
      message: 'is no beneficiary of the client',
    });
  return { creatorName: found.creator, workflow: found.workflow };
}

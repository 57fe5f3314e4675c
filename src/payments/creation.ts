import { randomUUID } from 'node:crypto';
import * as approvals from '../approvals/workflow.ts';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { PAYEE_COLUMNS, type Payee } from '../beneficiaries/payee.ts';
import { newId } from '../database/cells/identifiers.ts';
import { isDistributed } from '../database/cells/pool.ts';
import { first, type Transaction } from '../database/database.ts';
import { joinTrades } from '../exchange/trade-beneficiaries.ts';
import { isCalendarDay } from '../values/calendar.ts';
import { type ErrorCode, Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { decimal } from '../values/money.ts';
import type { PaymentStatus } from './moves.ts';
import { insertPayment, type Scheme } from './new-payment.ts';
import { notifyPayments } from './notification.ts';
import type { Presentation } from './presentation.ts';

const VALIDATING = 'Validating beneficiary information';

export interface PaymentInput {
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

/** Where a payment comes from, if not from a request of its own. */
export interface PaymentOrigin {
  multipaymentId?: number;
  /** Path of the payment in the request, before the names of its fields: `payments[3].` */
  inside?: string;
  /** What its approval requires, if the client's rules do not decide (the sandbox); null: no approval is needed. */
  requirement?: approvals.Requirement | null | undefined;
}

/**
 * Creates a payment, opens its approval if it needs one, and notifies CREATED and what follows it (docs/decisions.md, 3).
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, beneficiary_not_found, exchange_rate_missing, invalid_body
 */
export async function createPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  input: PaymentInput,
  origin: PaymentOrigin = {},
): Promise<PaymentNumber> {
  const { multipaymentId, inside = '' } = origin;
  const amounts = readAmounts(input, inside);
  const parties = await findParties(tx, input, inside);
  const requirement =
    origin.requirement !== undefined
      ? origin.requirement
      : await approvals.requirementFor(tx, {
          clientId: input.client_id,
          creatorId: input.contact_id,
          amount: amounts.amount,
          currency: input.payment_currency,
          now: act.now,
        });
  const paymentId = (await newId(tx, input.client_id, 'payment_id', input.payment_id)) as PaymentId;
  const status: PaymentStatus = requirement ? 'Payment pending of authorization' : VALIDATING;
  const id = await insertPayment(tx, {
    client_id: input.client_id,
    payment_id: paymentId,
    contact_id: input.contact_id,
    ordered_by_name: parties.creatorName,
    trade_id: input.trade_id,
    beneficiary_id: input.beneficiary_id,
    ...parties.payee,
    uuid: randomUUID(),
    scheme: input.scheme ?? 'SWIFT',
    ...amounts,
    payment_currency: input.payment_currency,
    fee_currency: input.fee_currency ?? null,
    reference: input.reference ?? null,
    status,
    charges: input.charges ?? null,
    invoice_required: input.invoice_required ?? false,
    created: act.now,
    payment_date: input.payment_date,
    authorisation_workflow: parties.workflow,
    mass_payment_id: input.mass_payment_id ?? null,
    mass_payment_external_reference_id: input.mass_payment_external_reference_id ?? null,
    multipayment_id: multipaymentId ?? null,
  });
  const { client_id: clientId } = input;
  noteChange(tx, act, { entity: 'payment', id: paymentId, clientId, action: 'create', created: true });
  if (parties.joinsTrade) await joinTrades(tx, act, [input], { action: 'update' });
  const pending = requirement !== null && !(await openApproval(tx, act, { id, paymentId, input, requirement }));
  const next = pending ? 'PENDING_OF_AUTHORIZATION' : 'AUTHORIZED';
  await notifyPayments(tx, act, presentation, [{ clientId, id, paymentId, statuses: ['CREATED', next] }]);
  await audit(tx, act, {
    action: 'create',
    entity: 'payment',
    entityId: paymentId,
    clientId: input.client_id,
    after: { ...input, ...amounts, payment_id: paymentId, status },
  });
  return id;
}

/** The amounts as they are stored; the payment date is checked on the way. @throws Problem invalid_body */
function readAmounts(input: PaymentInput, inside: string): { amount: string; fee_amount: string | null } {
  const amount = decimal(input.amount, `${inside}amount`, { positive: true });
  const fee = input.fee_amount == null ? null : decimal(input.fee_amount, `${inside}fee_amount`);
  if (!isCalendarDay(input.payment_date))
    throw new Problem('invalid_body', {
      field: `${inside}payment_date`,
      message: 'must be a calendar day as YYYY-MM-DD',
    });
  return { amount, fee_amount: fee };
}

/**
 * Opens the approval of a payment that was just created.
 * @returns whether the payment is authorised: creation can be the approval that was needed, if the client lets creators approve
 */
async function openApproval(
  tx: Transaction,
  act: Act,
  payment: { id: PaymentNumber; paymentId: PaymentId; input: PaymentInput; requirement: approvals.Requirement },
): Promise<boolean> {
  const { id, input, requirement } = payment;
  const opening = { id, clientId: input.client_id, created: act.now, paymentDate: input.payment_date };
  const { complete, byCreation } = await approvals.openApproval(tx, opening, requirement);
  if (byCreation) {
    const decision = { id: `${payment.paymentId}/${input.contact_id}`, clientId: input.client_id, action: 'authorise' };
    noteChange(tx, act, { entity: 'approval', ...decision, created: true });
  }
  if (complete) {
    await tx.query(
      'update payments set status = $3, authorised_by = contact_id, authorised_date = $4 where client_id = $1 and id = $2',
      [input.client_id, id, VALIDATING, act.now],
    );
  }
  return complete;
}

interface Parties {
  creatorName: string;
  payee: Payee;
  /** The beneficiary becomes one of the trade's. */
  joinsTrade: boolean;
  workflow: string;
}

/** The client, its contact, its trade and its beneficiary: each must exist and belong to the client. */
async function findParties(tx: Transaction, input: PaymentInput, inside: string): Promise<Parties> {
  const found = await readParties(tx, input);
  const missing = (code: ErrorCode, field: string, message = 'does not exist for this client') =>
    new Problem(code, { field: `${inside}${field}`, message });
  if (!found?.workflow) throw missing('client_not_found', 'client_id', 'does not exist');
  if (found.creator === null) throw missing('contact_not_found', 'contact_id');
  if (!found.trade) throw missing('trade_not_found', 'trade_id');
  if (!found.payee) throw missing('beneficiary_not_found', 'beneficiary_id');
  return { creatorName: found.creator, workflow: found.workflow, payee: found.payee, joinsTrade: found.joins };
}

interface FoundParties {
  workflow: string | null;
  creator: string | null;
  trade: boolean;
  payee: Payee | null;
  joins: boolean;
}

const PERSONS = `(select authorisation_workflow from clients where client_id = $1) as workflow,
  (select c.name from contacts c join contact_clients cc using (contact_id) where cc.client_id = $1 and c.contact_id = $2) as creator`;
/** @param trade,beneficiary SQL parameters */
const recordsOf = (trade: string, beneficiary: string) => `
  exists (select 1 from trades where client_id = $1 and trade_id = ${trade}) as trade,
  (select json_build_object(${PAYEE_COLUMNS.map((name) => `'${name}', ${name}`).join(', ')})
    from beneficiaries where client_id = $1 and beneficiary_id = ${beneficiary}) as payee,
  not exists (select 1 from trade_beneficiaries
    where client_id = $1 and trade_id = ${trade} and beneficiary_id = ${beneficiary}) as joins`;
const PARTIES = `select ${PERSONS}, ${recordsOf('$3', '$4')}`;

/** By one statement; by two where a worker of Citus has the records and not the people. */
async function readParties(tx: Transaction, input: PaymentInput): Promise<FoundParties | undefined> {
  const { client_id: client, contact_id: contact, trade_id: trade, beneficiary_id: beneficiary } = input;
  if (!isDistributed(tx))
    return first(
      await tx.query<FoundParties & Record<string, unknown>>(PARTIES, [client, contact, trade, beneficiary]),
    );
  const { rows: persons } = await tx.query<FoundParties & Record<string, unknown>>(`select ${PERSONS}`, [
    client,
    contact,
  ]);
  const { rows: records } = await tx.query<FoundParties & Record<string, unknown>>(`select ${recordsOf('$2', '$3')}`, [
    client,
    trade,
    beneficiary,
  ]);
  return { ...records[0], ...persons[0] } as FoundParties;
}

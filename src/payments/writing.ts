import { type BegunApproval, beginApprovals, openApprovals } from '../approvals/opening.ts';
import type { Requirement } from '../approvals/requirement.ts';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { type AuditEntry, auditSteps } from '../audit/record.ts';
import { copyRows, insertRows, writeRows } from '../database/copy.ts';
import { type Transaction, together } from '../database/database.ts';
import { joinKey, joinTrades, noteJoin, type PaymentOfTrade } from '../exchange/trade-beneficiaries.ts';
import type { TradeMemory } from '../exchange/trade-memory.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import type { PaymentInput } from './declaration.ts';
import type { PaymentStatus, PaymentWebhookStatus } from './moves.ts';
import { NEW_PAYMENT_COLUMNS, type NewPayment, statusOf } from './new-payment.ts';
import { notifyPayments, type PaymentNews, WrittenPayments } from './notification.ts';
import type { PaymentForms } from './payment.ts';
import type { Presentation } from './presentation.ts';

/** Writes new payments, in the caller's transaction. */

/** A payment that is to be created, and who creates it. */
export interface PaymentCall {
  act: Act;
  input: PaymentInput;
  /** The trace span that it belongs to; by default, the current one. */
  traceparent?: string | null | undefined;
}

/** The webhook status that follows CREATED, for each status that a payment can be created with. */
const NEXT: Record<PaymentStatus, PaymentWebhookStatus> = {
  'Payment pending of authorization': 'PENDING_OF_AUTHORIZATION',
  'Validating beneficiary information': 'AUTHORIZED',
  'Need more beneficiary information': 'AUTHORIZED',
  'Waiting for payment date': 'AUTHORIZED',
  'Executing Payment': 'SENT',
  'Payment complete': 'SENT',
  'Payment rejected': 'REJECTED',
  'Payment cancelled': 'CANCELLED',
};

/** Options for writing payments. */
interface WritingOptions {
  /** Nobody is notified or gets a mail. Only imports are silent. */
  silent?: boolean;
  /** They are lines of an import, which writes one audit row for all of them and has noted their creation. */
  imported?: boolean;
  /** The trades that the import has changed. */
  trades?: TradeMemory | undefined;
  /** The contacts who may authorise, by client, if they were read before. */
  permitted?: Map<string, Set<string>> | undefined;
  /** Who creates each payment, if they come from separate calls. */
  callOf?: ReadonlyMap<NewPayment, PaymentCall> | undefined;
}

/** Payments that were written. */
interface Written {
  /** Their numbers by `payment_id`; for an import only the numbers that are needed. */
  numbers: Map<string, PaymentNumber>;
  /** What clients and the institution see of them, by `payment_id`; undefined for an import. */
  forms: Promise<ReadonlyMap<string, PaymentForms>> | undefined;
}

/** Writes payments that were judged and have identifiers. */
export async function writePayments(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  payments: readonly NewPayment[],
  { silent = false, imported = false, trades, permitted, callOf }: WritingOptions = {},
): Promise<Written> {
  const approved = await begin(tx, payments, permitted);
  // An import's COPY needs the connection to itself.
  const copied = imported ? await copyPayments(tx, payments, silent ? approved : payments) : undefined;
  const storing =
    copied ?? insertRows<NewPayment, Stored>(tx, 'payments', NEW_PAYMENT_COLUMNS, payments, 'id, payment_id');
  // Done after the payments, so that others wait as briefly as possible for a trade's new beneficiary.
  const joining = payments.filter(({ joinsTrade }) => joinsTrade).map(({ input }) => input);
  const [stored, joined] = await together([storing, joinTrades(tx, joining)]);
  if (imported) for (const join of joined.values()) noteJoin(tx, act, join, { action: 'import', memory: trades });
  if (imported) for (const payment of approved) noteApproval(tx, act, payment, 'import');
  const numbers = new Map(stored.map((row) => [row.payment_id, row.id]));
  const numberOf = ({ id }: NewPayment) => present(numbers.get(id as string));
  const opened = approved.map((payment) => {
    const { approval, requirement, created, creatorName } = payment;
    const { client_id: clientId, payment_date: paymentDate } = payment.input;
    return { ...approval, requirement, id: numberOf(payment), clientId, created, paymentDate, creatorName };
  });
  await openApprovals(tx, opened, { quiet: silent, write: imported ? copyRows : writeRows });
  const news = (silent ? [] : payments).map((payment): PaymentNews => {
    const { act: by = act, traceparent } = callOf?.get(payment) ?? {};
    const told = { clientId: payment.input.client_id, id: numberOf(payment), paymentId: payment.id as PaymentId };
    return { ...told, now: by.now, traceparent, statuses: ['CREATED', NEXT[statusOf(payment)]] };
  });
  if (imported) {
    await notifyPayments(tx, presentation, news);
    return { numbers, forms: undefined };
  }
  const written = new WrittenPayments(tx, { ...presentation, now: act.now }, news);
  await written.notify(news);
  const byAct = Map.groupBy(payments, (payment) => callOf?.get(payment)?.act ?? act);
  const note = (by: Act, payment: NewPayment) => {
    const key = joinKey(payment.input);
    noteCreation(tx, by, payment, joined.get(key));
    joined.delete(key);
    written.note(payment.id as PaymentId);
  };
  auditSteps(
    tx,
    [...byAct].map(([by, own]) => ({
      act: by,
      entries: own.map(auditOf),
      note: () => {
        for (const payment of own) note(by, payment);
      },
    })),
  );
  return { numbers, forms: written.forms };
}

function auditOf(payment: NewPayment): AuditEntry {
  const { id, input, amount, fee } = payment;
  const after = { ...input, amount, fee_amount: fee, payment_id: id, status: statusOf(payment) };
  return { action: 'create', entity: 'payment', entityId: present(id), clientId: input.client_id, after };
}

/** A payment that needs an approval. */
type Approved = NewPayment & { requirement: Requirement; approval: BegunApproval };

/** Begins the approvals of the payments that need one. If the client lets creators approve, the creation itself may complete the approval. */
async function begin(
  tx: Transaction,
  payments: readonly NewPayment[],
  permitted: Map<string, Set<string>> = new Map(),
): Promise<Approved[]> {
  for (const payment of payments) payment.approval = undefined;
  const approved = payments.filter((payment): payment is Approved => payment.requirement !== null);
  const begun = await beginApprovals(
    tx,
    approved.map(({ input, requirement }) => ({ clientId: input.client_id, requirement })),
    permitted,
  );
  for (const [index, payment] of approved.entries()) payment.approval = present(begun[index]);
  return approved;
}

/** Notes in the change feed what a payment changes: the payment, its trade if that gets a beneficiary, and its approval. */
function noteCreation(tx: Transaction, act: Act, payment: NewPayment, join: PaymentOfTrade | undefined): void {
  const { id, input } = payment;
  const { client_id: clientId } = input;
  noteChange(tx, act, { entity: 'payment', id: present(id), clientId, action: 'create', created: true });
  if (join) noteJoin(tx, act, join, { action: 'update' });
  noteApproval(tx, act, payment, 'authorise');
}

/** Notes the approval that the creation of a payment counts as. */
function noteApproval(
  tx: Transaction,
  act: Act,
  { id, input, approval }: NewPayment,
  action: 'authorise' | 'import',
): void {
  if (approval?.creationLevel === undefined) return;
  const { client_id: clientId, contact_id: contact } = input;
  noteChange(tx, act, { entity: 'approval', id: `${id}/${contact}`, clientId, action, created: true });
}

interface Stored {
  id: PaymentNumber;
  payment_id: string;
}

/** Stores payments of an import. @returns the numbers of those that are asked for */
async function copyPayments(
  tx: Transaction,
  payments: readonly NewPayment[],
  asked: readonly NewPayment[],
): Promise<Stored[]> {
  await copyRows(tx, 'payments', NEW_PAYMENT_COLUMNS, payments);
  if (asked.length === 0) return [];
  const { rows } = await tx.query<Stored & Record<string, unknown>>(
    `select p.id, p.payment_id from unnest($1::text[], $2::text[]) as w (client_id, payment_id) cross join lateral (
       select id, payment_id from payments where client_id = w.client_id and payment_id = w.payment_id offset 0) p`,
    [asked.map(({ input }) => input.client_id), asked.map(({ id }) => id)],
  );
  return rows;
}

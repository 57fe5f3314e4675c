import { permittedOf } from '../approvals/approvers.ts';
import { type BegunApproval, beginApprovals, openApprovals } from '../approvals/opening.ts';
import { type Requirement, requirementsFor } from '../approvals/requirement.ts';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { newIds } from '../database/cells/identifiers.ts';
import { copyRows, insertRows, writeRows } from '../database/copy.ts';
import { type Transaction, together } from '../database/database.ts';
import { joinKey, joinTrades, noteJoin, type PaymentOfTrade } from '../exchange/trade-beneficiaries.ts';
import type { TradeMemory } from '../exchange/trade-memory.ts';
import { firstRefusal, Problem } from '../values/errors.ts';
import type { PaymentId, PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import type { PaymentInput } from './declaration.ts';
import type { PaymentStatus, PaymentWebhookStatus } from './moves.ts';
import { NEW_PAYMENT_COLUMNS, type NewPayment, type PaymentOrigin, readPayment, statusOf } from './new-payment.ts';
import { notifyPayments } from './notification.ts';
import { judgeParties } from './parties.ts';
import type { Presentation } from './presentation.ts';

/**
 * Creates a single payment; see `createPayments`.
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, beneficiary_not_found, exchange_rate_missing,
 * invalid_body
 */
export async function createPayment(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  input: PaymentInput,
  origin: PaymentOrigin = {},
): Promise<PaymentNumber> {
  const [id] = (await createPayments(tx, act, presentation, [readPayment(input, act.now, origin)])).values();
  return id as PaymentNumber;
}

/**
 * Creates payments of any clients in the caller's transaction, all or nothing. It opens the approvals that they need. For each payment it
 * notifies CREATED and the status that follows (docs/decisions.md, 3).
 * @param wanted payments, with a Problem in the place of one that could not be read
 * @returns their numbers by `payment_id`
 * @throws Problem the first one, as for createPayment
 */
export async function createPayments(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  wanted: readonly (NewPayment | Problem)[],
): Promise<Map<string, PaymentNumber>> {
  const fault = wanted.findIndex((each) => each instanceof Problem);
  const read = (fault < 0 ? wanted : wanted.slice(0, fault)) as NewPayment[];
  const [refused, taken, permitted] = await together([
    judgePayments(tx, read),
    newIds(tx, 'payment_id', read, wanted.length > 1),
    permittedOf(
      tx,
      read.map(({ input }) => input.client_id),
    ),
  ]);
  const problem = firstRefusal(taken, refused) ?? wanted[fault];
  if (problem) throw problem;
  return writePayments(tx, act, presentation, read, { permitted });
}

/**
 * Completes payments with the parties that they name, and with what their approvals require.
 * @param imported for an import, which can have thousands of payments. Clients without approvals take no turn in the lock of approvals, and
 * beneficiaries are not compared with those of their trades
 * @returns why payments are refused, by their index
 */
export async function judgePayments(
  tx: Transaction,
  payments: readonly NewPayment[],
  imported = false,
): Promise<Map<number, Problem>> {
  if (payments.length === 0) return new Map();
  for (const payment of payments) payment.requirement = payment.given ?? null;
  const all = [...payments.entries()].filter(([, payment]) => payment.given === undefined);
  // For a single payment, its requirement is read together with its parties.
  const [{ clients, refused }, early] = await together([
    judgeParties(tx, payments, !imported),
    imported ? undefined : requirementsOf(tx, all),
  ]);
  const isApproved = ({ input }: NewPayment) => clients.get(input.client_id)?.approvalsEnabled;
  const requirements =
    early ??
    (await requirementsOf(
      tx,
      all.filter(([index, payment]) => !refused.has(index) && isApproved(payment)),
    ));
  for (const { index, payment, requirement } of requirements) {
    if (refused.has(index)) continue;
    if (requirement instanceof Problem) refused.set(index, requirement);
    else payment.requirement = requirement;
  }
  return refused;
}

/** The requirements of some of the payments. @param some each with its index */
async function requirementsOf(tx: Transaction, some: readonly [index: number, payment: NewPayment][]) {
  const wanted = some.map(([, { input, amount }]) => ({
    ...{ clientId: input.client_id, creatorId: input.contact_id, amount, currency: input.payment_currency },
  }));
  const found = await requirementsFor(tx, wanted);
  return some.map(([index, payment], place) => ({ index, payment, requirement: found[place] ?? null }));
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
  /** Nobody is notified or gets a mail. */
  silent?: boolean;
  /** They are lines of an import, which writes one audit row for all of them and has noted their creation. */
  imported?: boolean;
  /** The trades that the import has changed. */
  trades?: TradeMemory | undefined;
  /** The contacts who may authorise, by client, if they were read before. */
  permitted?: Map<string, Set<string>> | undefined;
}

/** Writes payments that were judged and have identifiers. @returns their numbers by `payment_id`; for an import only the numbers that are needed */
export async function writePayments(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  payments: readonly NewPayment[],
  { silent = false, imported = false, trades, permitted }: WritingOptions = {},
): Promise<Map<string, PaymentNumber>> {
  const approved = await begin(tx, payments, permitted);
  // An import's COPY needs the connection to itself.
  const copied = imported ? await copyPayments(tx, payments, silent ? approved : payments) : undefined;
  const storing =
    copied ?? insertRows<NewPayment, Stored>(tx, 'payments', NEW_PAYMENT_COLUMNS, payments, 'id, payment_id');
  // Done after the payments, so that others wait as briefly as possible for a trade's new beneficiary.
  const joining = payments.filter(({ joinsTrade }) => joinsTrade).map(({ input }) => input);
  const [stored, joined] = await together([storing, joinTrades(tx, joining)]);
  if (imported) for (const join of joined.values()) noteJoin(tx, act, join, { action: 'import', memory: trades });
  else for (const payment of payments) noteCreation(tx, act, payment, joined.get(joinKey(payment.input)));
  if (imported) for (const payment of approved) noteApproval(tx, act, payment, 'import');
  const numbers = new Map(stored.map((row) => [row.payment_id, row.id]));
  const numberOf = ({ id }: NewPayment) => present(numbers.get(id as string));
  const opened = approved.map((payment) => {
    const { approval, requirement, created, creatorName } = payment;
    const { client_id: clientId, payment_date: paymentDate } = payment.input;
    return { ...approval, requirement, id: numberOf(payment), clientId, created, paymentDate, creatorName };
  });
  await openApprovals(tx, opened, { quiet: silent, write: imported ? copyRows : writeRows });
  if (!silent)
    await notifyPayments(
      tx,
      act,
      presentation,
      payments.map((payment) => ({
        clientId: payment.input.client_id,
        id: numberOf(payment),
        paymentId: payment.id as PaymentId,
        statuses: ['CREATED', NEXT[statusOf(payment)]],
      })),
    );
  if (!imported)
    audit(
      tx,
      act,
      ...payments.map((payment) => {
        const { id, input, amount, fee } = payment;
        const after = { ...input, amount, fee_amount: fee, payment_id: id, status: statusOf(payment) };
        const clientId = input.client_id;
        return { action: 'create' as const, entity: 'payment', entityId: present(id), clientId, after };
      }),
    );
  return numbers;
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

import { permittedOf } from '../approvals/approvers.ts';
import { requirementsFor } from '../approvals/requirement.ts';
import type { Act } from '../audit/act.ts';
import { newIds } from '../database/cells/identifiers.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import { lockChanges, type Transaction, together } from '../database/database.ts';
import { pairKey } from '../identity/people/tenant.ts';
import { attempt, firstRefusal, Problem } from '../values/errors.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { present } from '../values/unknown.ts';
import type { PaymentInput } from './declaration.ts';
import { type NewPayment, type PaymentOrigin, readPayment } from './new-payment.ts';
import { judgeParties } from './parties.ts';
import type { PaymentRecord } from './payment.ts';
import type { Presentation } from './presentation.ts';
import { type PaymentCall, writePayments } from './writing.ts';

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
  const { refused, permitted } = await prepare(tx, read, wanted.length > 1);
  const problem = firstRefusal(refused) ?? wanted[fault];
  if (problem) throw problem;
  return (await writePayments(tx, act, presentation, read, { permitted })).numbers;
}

/**
 * Creates payments of separate calls, in order. Each call is judged by itself, and is a step of its own in the change feed.
 * @returns for each call its payment in the form that the institution reads, or why it was refused; undefined if it was left out, because
 * an earlier call adds another beneficiary to its trade
 */
export async function createSeparately(
  tx: Transaction,
  presentation: Presentation,
  calls: readonly PaymentCall[],
): Promise<(PaymentRecord | Problem | undefined)[]> {
  const outcomes = new Map<PaymentCall, PaymentRecord | Problem>();
  const callOf = new Map<NewPayment, PaymentCall>();
  for (const call of calls) {
    const payment = attempt(() => readPayment(call.input, call.act.now));
    if (payment instanceof Problem) outcomes.set(call, payment);
    else callOf.set(payment, call);
  }
  const payments = [...callOf.keys()];
  const { refused, permitted } = await prepare(tx, payments, calls.length > 1);
  for (const [index, problem] of refused) outcomes.set(present(callOf.get(present(payments[index]))), problem);
  const accepted = withoutSecondJoins(payments.filter((_, index) => !refused.has(index)));
  const [first] = accepted;
  if (first) {
    const { act } = present(callOf.get(first));
    const { forms } = await writePayments(tx, act, presentation, accepted, { permitted, callOf });
    lockChanges(tx);
    const written = present(await forms);
    for (const payment of accepted)
      outcomes.set(present(callOf.get(payment)), present(written.get(present(payment.id))).record);
  }
  return calls.map((call) => outcomes.get(call));
}

/** Leaves out payments whose trade gets another beneficiary from an earlier one. The feed would show the trade with both at once. */
function withoutSecondJoins(payments: readonly NewPayment[]): NewPayment[] {
  const joining = new Map<string, string>();
  return payments.filter(({ input, joinsTrade }) => {
    if (!joinsTrade) return true;
    const trade = pairKey(input.client_id, input.trade_id);
    const known = joining.get(trade) ?? input.beneficiary_id;
    joining.set(trade, known);
    return known === input.beneficiary_id;
  });
}

/**
 * Judges payments, gives them identifiers, and reads who may approve them.
 * @param look whether to search for given identifiers, as for `newIds`
 * @returns why payments are refused, by their index
 */
async function prepare(
  tx: Transaction,
  payments: readonly NewPayment[],
  look: boolean,
): Promise<{ refused: Map<number, Problem>; permitted: Map<string, Set<string>> }> {
  const judging = judgePayments(tx, payments);
  // With several cells, only a payment that is accepted may claim an identifier.
  const refusedBefore = hasSeveralCells(tx) ? await judging : new Map();
  const naming = payments.filter((_, index) => !refusedBefore.has(index));
  const [refused, taken, permitted] = await together([
    judging,
    newIds(tx, 'payment_id', naming, look),
    permittedOf(
      tx,
      payments.map(({ input }) => input.client_id),
    ),
  ]);
  const named = [...taken].map(([place, problem]) => [payments.indexOf(present(naming[place])), problem] as const);
  return { refused: new Map([...named, ...refused]), permitted };
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

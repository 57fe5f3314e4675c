import { randomUUID } from 'node:crypto';
import { lockFunds, openHolds } from '../../accounts/held-money.ts';
import { replaceConfiguration } from '../../approvals/configuration.ts';
import type { Act } from '../../audit/act.ts';
import { noteChange } from '../../audit/change.ts';
import { newId } from '../../database/cells/identifiers.ts';
import type { Transaction } from '../../database/database.ts';
import type { ImportScope } from '../../imports/kind.ts';
import { paymentImport } from '../../imports/kinds/payments.ts';
import { tradeImport } from '../../imports/kinds/trades.ts';
import { londonDay } from '../../values/calendar.ts';
import type { PaymentNumber } from '../../values/identifiers.ts';
import type { REASONS } from '../../values/reasons.ts';
import { type DecidedPayment, decide } from './decisions.ts';
import { fundingTrades } from './funding.ts';
import { type DemoPayment, demonstrationPayments, PAST_MULTIPAYMENTS } from './history.ts';
import { type ChosenClient, DEMO_RULESET } from './institution.ts';
import { OPEN_MULTIPAYMENTS, openPayments } from './open-payments.ts';
import { putRecords } from './records.ts';
import { Seeded } from './seeded.ts';

/** The number of payments whose approvals are decided at once. */
const DECIDED_AT_ONCE = 50;
/** The client with a configuration of its own. The other one uses an eyes workflow. */
const CLIENT_WITH_RULES = 'CLI000002';
const MULTIPAYMENT_SEED = 11;
/** The reason for the order that holds money on the client's account. */
const ORDER_REASON: (typeof REASONS)[number] = 'payment_for_goods';

/** All payments of the demonstration: those of a year, and those that wait. @param today London day */
export function allPayments(today: string, now: Date): DemoPayment[] {
  const past = demonstrationPayments(today, now);
  const open = openPayments(today, now, { firstNumber: past.length + 1, firstMultipayment: PAST_MULTIPAYMENTS });
  return [...past, ...open];
}

/**
 * Creates a year of payments with their trades, approvals and multi payments. The payments are pending at first. They get their approvals,
 * and then the status that they have reached.
 * @param chosen whether a client's payments are created
 */
export async function putPayments(tx: Transaction, scope: ImportScope, chosen: ChosenClient): Promise<void> {
  const { now } = scope.act;
  const all = allPayments(londonDay(now), now);
  const trades = fundingTrades(all).filter(({ client_id: clientId }) => chosen(clientId));
  const payments = all.filter(({ input }) => chosen(input.client_id));
  await putRecords(tx, scope, tradeImport, trades);
  if (chosen(CLIENT_WITH_RULES)) await replaceConfiguration(tx, scope.act, CLIENT_WITH_RULES, DEMO_RULESET);
  const pending = payments.map(({ input }) => ({ ...input, status: 'Payment pending of authorization' as const }));
  await putRecords(tx, scope, paymentImport, pending);
  const { rows } = await tx.query<{ id: PaymentNumber; payment_id: string }>(
    'select id, payment_id from payments where client_id = any($1)',
    [[...new Set(payments.map(({ input }) => input.client_id))]],
  );
  const ids = new Map(rows.map((row) => [row.payment_id, row.id]));
  await holdForOrders(tx, now, payments);
  const decided: DecidedPayment[] = [];
  const waiting = payments.flatMap((payment) => {
    const id = ids.get(payment.input.payment_id);
    return id === undefined ? [] : [{ payment, id }];
  });
  // The statements for several payments are sent to PostgreSQL without waiting for each other.
  for (let from = 0; from < waiting.length; from += DECIDED_AT_ONCE) {
    const some = waiting.slice(from, from + DECIDED_AT_ONCE);
    decided.push(...(await Promise.all(some.map(({ payment, id }) => decide(tx, scope.act, payment, id)))));
  }
  await updatePayments(tx, decided);
  await putMultipayments(tx, scope.act, payments, ids);
}

/** Marks payments as ordered by their clients from an account, which holds their money. */
async function holdForOrders(tx: Transaction, now: Date, payments: readonly DemoPayment[]): Promise<void> {
  for (const { input, fundingAccount: accountId } of payments) {
    if (accountId === undefined) continue;
    const { client_id: clientId, payment_id: paymentId, payment_currency: currency } = input;
    await tx.query(
      `update payments p set source = 'client', order_reason = $3, funding_account_id = $4, request_index = 0, own_trade = true,
         account_id = b.account_id
       from beneficiaries b
       where p.client_id = $1 and p.payment_id = $2 and b.client_id = p.client_id and b.beneficiary_id = p.beneficiary_id`,
      [clientId, paymentId, ORDER_REASON, accountId],
    );
    await tx.query(
      `update trades set source = 'client', reason = $3, single = true where client_id = $1 and trade_id = $2`,
      [clientId, input.trade_id, ORDER_REASON],
    );
    await lockFunds(tx, clientId, accountId);
    openHolds(tx, now, [
      { holdId: randomUUID(), clientId, accountId, currency, amount: String(input.amount), paymentId },
    ]);
  }
}

async function updatePayments(tx: Transaction, payments: DecidedPayment[]): Promise<void> {
  await tx.query(
    `update payments p set status = u.status, authorised_by = u.authorised_by, authorised_date = u.authorised_date,
       rejected_by = u.rejected_by, rejected_date = u.rejected_date, cancelled_by = u.cancelled_by, cancelled_date = u.cancelled_date,
       sent_date = u.sent_date
     from json_to_recordset($1) as u(id bigint, status payment_status, authorised_by text, authorised_date timestamptz, rejected_by text,
       rejected_date timestamptz, cancelled_by text, cancelled_date timestamptz, sent_date timestamptz)
     where p.id = u.id`,
    [JSON.stringify(payments)],
  );
}

async function putMultipayments(
  tx: Transaction,
  act: Act,
  payments: DemoPayment[],
  ids: Map<string, PaymentNumber>,
): Promise<void> {
  const random = new Seeded(MULTIPAYMENT_SEED);
  for (let index = 0; index < PAST_MULTIPAYMENTS + OPEN_MULTIPAYMENTS; index += 1) {
    // Drawn for each of them, so that each has the same value every time.
    const unique = random.uuid();
    const own = payments.filter((payment) => payment.multipayment === index);
    const first = own[0];
    if (!first) continue;
    const { client_id: clientId, contact_id: contactId } = first.input;
    await tx.query(
      `insert into multipayments (multipayment_id, client_id, multipayment_unique_id, contact_id, status, created_at)
       values ($1, $2, $3, $4, 'created', $5)`,
      [index + 1, clientId, await newId(tx, clientId, 'multipayment_unique_id', unique), contactId, first.created],
    );
    noteChange(tx, act, { entity: 'multipayment', id: String(index + 1), clientId, action: 'import', created: true });
    await tx.query('update payments set multipayment_id = $3 where client_id = $1 and id = any($2::bigint[])', [
      clientId,
      own.map((payment) => ids.get(payment.input.payment_id)),
      index + 1,
    ]);
    await tx.query('update trades set multipayment_id = $3 where client_id = $1 and trade_id = any($2)', [
      clientId,
      own.map((payment) => payment.input.trade_id),
      index + 1,
    ]);
  }
}

import { openHolds } from '../../accounts/held-money.ts';
import type { Act } from '../../audit/act.ts';
import { writeBeneficiaries } from '../../beneficiaries/creation.ts';
import type { Beneficiary } from '../../beneficiaries/declaration.ts';
import type { OrderedFields } from '../../beneficiaries/order.ts';
import { newIds } from '../../database/cells/identifiers.ts';
import { type Transaction, together } from '../../database/database.ts';
import { type NewTrade, writeOwnTrades } from '../../exchange/trade-booking.ts';
import type { PaymentInput } from '../../payments/declaration.ts';
import { type NewPayment, type OrderedPayment, readPayment } from '../../payments/new-payment.ts';
import { holdOf, ownTrade, requireApprovals, useLimit } from '../../payments/orders/creation.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import type { OrderedPayee } from '../../payments/orders/scene.ts';
import type { Presentation } from '../../payments/presentation.ts';
import { writePayments } from '../../payments/writing.ts';
import { present } from '../../values/unknown.ts';
import type { BookedExchange } from './exchanges.ts';
import type { JudgedInstruction } from './judgement.ts';
import type { InstructionScene, Source } from './scene.ts';

/** What a payment keeps of the file that it comes from. */
export interface FileOf {
  massPaymentId: string;
  externalReference: string;
}

/** What a file adds to the instruction of a row. */
export interface RowOrigin {
  endToEndId?: string | undefined;
  uuid?: string | undefined;
  charges?: 'SHA' | 'OUR' | undefined;
  reason?: Source['reason'] | undefined;
}

/** What the payments are made from. */
interface Making {
  presentation: Presentation;
  orderer: Orderer;
  source: Source;
  scene: InstructionScene;
  judged: readonly JudgedInstruction[];
  /** The trades that were booked for the payments that buy their currency. */
  exchanges: readonly BookedExchange[];
  /** Trades that were booked earlier, by the index of the row. */
  boughtBy?: ReadonlyMap<number, string> | undefined;
  multipaymentId?: number | undefined;
  file?: FileOf | undefined;
  originOf?: ((row: JudgedInstruction) => RowOrigin) | undefined;
  /** The part of the daily limit that each payment uses, if it was calculated before. */
  limits?: ReadonlyMap<number, string> | undefined;
}

/** A payment that was made, and its own trade if it has one. */
export interface MadePayment {
  judged: JudgedInstruction;
  payment: NewPayment;
  payee: OrderedPayee;
  trade: NewTrade | undefined;
}

/**
 * Makes the payments of covered instructions. It makes new payees first, and then a trade with its hold for each payment from an account.
 * Approvals, notifications and the feed work as for any other payment.
 * @throws Problem exchange_rate_missing, limit_exceeded
 */
export async function createInstructed(tx: Transaction, act: Act, making: Making): Promise<MadePayment[]> {
  const { presentation, orderer, scene, judged, exchanges, limits, boughtBy } = making;
  if (judged.length === 0) return [];
  const of = () => ({ id: undefined, input: { client_id: orderer.clientId } }) as Identified;
  const owning = judged.filter(({ exchanged }) => !exchanged && !scene.trade);
  const ids = judged.map(of);
  const tradeIds = owning.map(of);
  const fresh = freshPayees(judged);
  const payeeIds = [...fresh].map(of);
  await together([
    newIds(tx, 'payment_id', ids, false),
    newIds(tx, 'trade_id', tradeIds, false),
    newIds(tx, 'beneficiary_id', payeeIds, false),
  ]);
  const made = await writeBeneficiaries(
    tx,
    act,
    orderer.clientId,
    [...fresh.values()].map((fields, index) => ({ id: present(payeeIds[index]?.id), fields })),
  );
  const newPayees = new Map([...fresh.keys()].map((key, index) => [key, payeeFrom(present(made[index]))]));
  const bought = new Map(
    exchanges.flatMap(({ group, tradeId }) => group.members.map(({ row }) => [row.index, tradeId])),
  );
  const owned = new Map(owning.map(({ row }, index) => [row.index, tradeIds[index]?.id as string]));
  const payments = judged.map((each, index) => {
    const payee = each.payee ?? present(newPayees.get(each.described?.key ?? ''));
    const { index: place } = each.row;
    const tradeId = scene.trade?.trade_id ?? bought.get(place) ?? boughtBy?.get(place) ?? present(owned.get(place));
    return { judged: each, payee, payment: newPayment(act, making, { each, payee, tradeId, id: ids[index]?.id }) };
  });
  const all = payments.map(({ payment }) => payment);
  await requireApprovals(tx, all, scene);
  if (limits) setLimits(payments, limits, scene);
  else await useLimit(tx, all, scene);
  const trades = new Map(
    payments
      .filter(({ payment }) => payment.ordered?.own_trade)
      .map(({ payment }) => [present(payment.id), ownTrade(act, payment)]),
  );
  if (scene.funds)
    openHolds(
      tx,
      act.now,
      all.filter(({ id }) => trades.has(present(id))).map((payment) => holdOf(payment, scene)),
    );
  // Each trade is written before its payment, so that the change feed shows the cause first.
  if (trades.size > 0) await writeOwnTrades(tx, act, presentation.apiUrl, [...trades.values()]);
  await writePayments(tx, act, presentation, all, { permitted: scene.permitted });
  return payments.map((each) => ({ ...each, trade: trades.get(present(each.payment.id)) }));
}

interface Identified {
  id: string | undefined;
  input: { client_id: string };
}

/** The payees that do not exist yet, without duplicates. */
function freshPayees(judged: readonly JudgedInstruction[]): Map<string, OrderedFields> {
  const fresh = new Map<string, OrderedFields>();
  for (const { described } of judged)
    if (described && !fresh.has(described.key)) fresh.set(described.key, described.fields);
  return fresh;
}

/** A beneficiary that was just made, in the form that payments use. */
function payeeFrom(made: Beneficiary): OrderedPayee {
  return {
    ...{ beneficiary_id: made.beneficiary_id, account_id: made.account_id, currency: made.currency },
    ...{ bank_country_code: made.bank_country_code, purpose_of_payment: made.purpose_of_payment },
    ...{ beneficiary_name: made.beneficiary_name, account_number: made.account_number, iban: made.iban },
    ...{ swift_code: made.swift_code, bank_identifier: made.bank_identifier },
    ...{ beneficiary_aml_id: made.beneficiary_aml_id, active: made.beneficiary_active },
    ...{ authorised: made.beneficiary_authorised, blocked: made.beneficiary_blocked },
    ...{ completed: made.beneficiary_completed, verified: made.beneficiary_verified },
    ...{ account_blocked: false, joined: false },
  };
}

function newPayment(
  act: Act,
  { orderer, source, scene, multipaymentId, file, originOf }: Making,
  {
    each,
    payee,
    tradeId,
    id,
  }: { each: JudgedInstruction; payee: OrderedPayee; tradeId: string; id: string | undefined },
): NewPayment {
  const { row, date, scheme, exchanged } = each;
  const origin = originOf?.(each) ?? {};
  const own = !exchanged && !scene.trade;
  const input: PaymentInput = {
    ...{ client_id: orderer.clientId, contact_id: orderer.contactId, trade_id: tradeId },
    ...{ beneficiary_id: payee.beneficiary_id, amount: row.amount, payment_currency: row.currency },
    ...{ payment_date: date, reference: row.reference, charges: origin.charges ?? 'SHA', scheme },
    ...(file && { mass_payment_id: file.massPaymentId, mass_payment_external_reference_id: file.externalReference }),
  };
  const ordered: OrderedPayment = {
    order_reason: origin.reason ?? source.reason,
    purpose_of_payment: row.purpose ?? payee.purpose_of_payment,
    email_beneficiary: null,
    account_id: payee.account_id,
    // If a payment buys its currency, the trade holds the money and the payment does not.
    funding_account_id: source.accountId ?? null,
    quote_id: null,
    request_index: row.index,
    instruction_id: row.instructionId ?? null,
    end_to_end_id: origin.endToEndId ?? null,
    own_trade: own,
    limit_amount: null,
    limit_currency: null,
  };
  return Object.assign(readPayment(input, act.now, multipaymentId === undefined ? {} : { multipaymentId }), {
    ...{ id, payee, ordered, creatorName: scene.creatorName, workflow: scene.workflow, joinsTrade: !payee.joined },
    ...(origin.uuid !== undefined && { uuid: origin.uuid }),
  });
}

function setLimits(
  payments: readonly Pick<MadePayment, 'judged' | 'payment'>[],
  limits: ReadonlyMap<number, string>,
  { day }: InstructionScene,
): void {
  for (const { judged, payment } of payments) {
    const amount = limits.get(judged.row.index);
    if (payment.ordered && amount !== undefined)
      Object.assign(payment.ordered, { limit_amount: amount, limit_currency: day?.currency });
  }
}

import { type LockedFunds, lockFunds } from '../../accounts/held-money.ts';
import { permittedOf } from '../../approvals/approvers.ts';
import { type RulesInForce, readRules } from '../../approvals/requirement.ts';
import { accountBlocked } from '../../beneficiaries/account-key.ts';
import { PAYEE_COLUMNS, PAYEE_STATE_COLUMNS, type Payee, type PayeeState } from '../../beneficiaries/payee.ts';
import { type Transaction, together } from '../../database/database.ts';
import { type BookingScene, readBooking } from '../../exchange/quote-booking.ts';
import type { TradeStatus } from '../../exchange/trade-declaration.ts';
import type { TradeOrder } from '../../exchange/trade-order.ts';
import { textArray } from '../../values/text-array.ts';
import { type OrderSettings, readOrderSettings } from '../order-settings.ts';
import { type DayOfOrders, lockDay } from './daily-limit.ts';
import type { Order, Orderer } from './order.ts';

/** Everything that is needed to judge an order, read together. What limits the use of money is locked until the transaction ends. */
export interface OrderScene {
  /** The trade that pays for it; undefined if none is named or the client has no such trade. For a quote, the trade that it will become. */
  trade: LockedTrade | undefined;
  /** Its quote, which is booked together with it. */
  booking: BookingScene | undefined;
  /**
   * The account that pays for it; undefined if none is named or the client has no such account. With a quote, the trade holds its money and
   * the payments do not.
   */
  funds: LockedFunds | undefined;
  payees: Map<string, OrderedPayee>;
  rules: RulesInForce;
  /** The contacts who may authorise, by client. */
  permitted: Map<string, Set<string>>;
  creatorName: string;
  workflow: string;
  stepUp: boolean;
  settings: OrderSettings;
  day: DayOfOrders | undefined;
}

/** A payee of an order. */
export type OrderedPayee = Payee &
  PayeeState & {
    beneficiary_id: string;
    account_id: number;
    bank_country_code: string | null;
    currency: string | null;
    purpose_of_payment: string | null;
    /** Whether its account is blocked for the client, under any name. */
    account_blocked: boolean;
    /** Whether it is already one of the trade's beneficiaries. */
    joined: boolean;
  };

/** A trade whose row is locked. Amounts are decimals. */
export interface LockedTrade {
  trade_id: string;
  trade_type: string;
  status: TradeStatus;
  single: boolean;
  buy_currency: string;
  buy_amount: string;
  maturity_date: Date | null;
  /** The part that its live payments and drawdowns use. */
  allocated: string;
}

/** Reads the scene. */
export async function readScene(tx: Transaction, now: Date, order: Order): Promise<OrderScene> {
  const { clientId, contactId, quote_id: quoteId } = order;
  const creators = [{ clientId, creatorId: contactId }];
  // The rules come first. Their lock excludes whoever changes permissions, and must be taken before all row locks.
  const [rules, booking, trade, funds, client, payees, permitted, settings, day] = await together([
    readRules(tx, creators),
    quoteId === undefined ? undefined : readBooking(tx, now, { clientId, contactId, quoteId }, fundingOf(order)),
    order.trade_id === undefined ? undefined : lockTrade(tx, clientId, order.trade_id),
    quoteId !== undefined || order.funding_account_id === undefined
      ? undefined
      : lockFunds(tx, clientId, order.funding_account_id),
    readClient(tx, order),
    readPayees(
      tx,
      order,
      order.payments.map(({ beneficiary_id: id }) => id),
    ),
    permittedOf(tx, [clientId]),
    readOrderSettings(tx, clientId, { trade: order.trade_id, account: order.funding_account_id, quote: quoteId }),
    lockDay(tx, clientId, now),
  ]);
  return { trade: tradeToBe(booking) ?? trade, booking, funds, payees, rules, permitted, settings, day, ...client };
}

/** The part of an order that funds the trade of its quote. */
export function fundingOf({ reason = 'other', funding_account_id: account }: Order): TradeOrder {
  return { reason, funding_account_id: account };
}

/** The trade that a quote will become. */
function tradeToBe(booking: BookingScene | undefined): LockedTrade | undefined {
  if (!booking?.quote) return undefined;
  const { trade_type, buy_currency, buy_amount, maturity_date } = booking.quote;
  return {
    ...{ trade_id: booking.tradeId, trade_type, status: 'Created', single: false },
    ...{ buy_currency, buy_amount, maturity_date, allocated: '0' },
  };
}

/** Locks a trade of a client. @returns undefined if the client has no trade with this identifier */
export async function lockTrade(tx: Transaction, clientId: string, tradeId: string): Promise<LockedTrade | undefined> {
  tx.later({
    name: 'order-trade-lock',
    text: 'select from trades where client_id = $1 and trade_id = $2 for no key update',
    values: [clientId, tradeId],
  });
  // A separate statement, so that it sees the changes of transactions that the lock waited for.
  const { rows } = await tx.query<LockedTrade & Record<string, unknown>>({
    name: 'order-trade',
    text: `select trade_id, trade_type, status, single, buy_currency, buy_amount, maturity_date,
        allocated + coalesce((select sum(d.amount) from trade_allocation_deltas d where d.client_id = $1 and d.trade_id = $2), 0) as allocated
      from trades where client_id = $1 and trade_id = $2`,
    values: [clientId, tradeId],
  });
  return rows[0];
}

/** The data of the client and its contact that the payments store. */
export async function readClient(tx: Transaction, { clientId, contactId }: Orderer) {
  const { rows } = await tx.query<{ workflow: string; stepUp: boolean; creatorName: string; fxEnabled: boolean }>({
    name: 'order-client',
    text: `select k.authorisation_workflow as workflow, k.approval_step_up as "stepUp", k.fx_enabled as "fxEnabled",
        (select name from contacts where contact_id = $2) as "creatorName"
      from clients k where k.client_id = $1`,
    values: [clientId, contactId],
  });
  return rows[0] ?? { workflow: '', stepUp: false, creatorName: '', fxEnabled: false };
}

const COLUMNS = [
  ...['beneficiary_id', 'account_id', 'bank_country_code', 'currency', 'purpose_of_payment'],
  ...PAYEE_COLUMNS,
  ...PAYEE_STATE_COLUMNS,
];

/** Reads the payees of an order, and keeps the client from changing or deleting them until the transaction ends. */
export async function readPayees(
  tx: Transaction,
  { clientId, trade_id: trade }: Pick<Order, 'clientId' | 'trade_id'>,
  ids: readonly string[],
): Promise<Map<string, OrderedPayee>> {
  const { rows } = await tx.query<OrderedPayee & Record<string, unknown>>({
    name: 'order-payees',
    text: `select ${COLUMNS.map((column) => `b.${column}`).join(', ')}, ${accountBlocked('b', '$1')} as account_blocked,
        exists (select from trade_beneficiaries t where t.client_id = $1 and t.trade_id = $3 and t.beneficiary_id = b.beneficiary_id) as joined
      from (select distinct * from unnest($2::text[])) as u(beneficiary_id) cross join lateral (
        select * from beneficiaries where client_id = $1 and beneficiary_id = u.beneficiary_id and active offset 0 for key share) b`,
    values: [clientId, textArray(ids), trade ?? null],
  });
  return new Map(rows.map((row) => [row.beneficiary_id, row]));
}

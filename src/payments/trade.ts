import Big from 'big.js';
import { audit } from '../audit.ts';
import { isCalendarDay, londonDay, londonTimestamp, parseInstant } from '../calendar.ts';
import type { Act } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { exact } from '../json.ts';
import { decimal, MAX_RATE_DECIMALS } from '../money.ts';
import { nextId } from '../rows.ts';
import { requireContact } from '../tenant.ts';
import { notify } from '../webhooks/notification.ts';

export const TRADE_STATUSES = [
  'Created',
  'Funds In Partially',
  'Funds In Full',
  'Funds Out Partially Allocated',
  'Funds Out Full Allocated',
  'Closed',
  'Cancelled',
  'Rejected',
] as const;
export type TradeStatus = (typeof TRADE_STATUSES)[number];
export const TRADE_TYPES = ['spot', 'forward', 'window_forward', 'drawdown', 'ndf'] as const;
export type TradeType = (typeof TRADE_TYPES)[number];

/** Decimals that a computed sell amount is rounded to, half even, as banks settle. */
const SETTLEMENT_DECIMALS = 2;

export interface TradeInput {
  client_id: string;
  contact_id: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: number | string;
  rate: number | string;
  trade_id?: string;
  parent_trade_id?: string | null;
  status?: TradeStatus;
  trade_type?: TradeType;
  rate_symbol?: string;
  sell_amount?: number | string;
  fee_amount?: number | string | null;
  fee_currency?: string | null;
  order_date?: string;
  maturity_date?: string | null;
  reference?: string | null;
  synthetic?: boolean;
  /** Left out: those whom the trade's payments pay. */
  beneficiaries?: unknown[];
}

interface TradeRow {
  trade_id: string;
  client_id: string;
  contact_id: string;
  parent_trade_id: string | null;
  status: TradeStatus;
  trade_type: TradeType;
  rate_symbol: string;
  rate: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: string;
  sell_amount: string;
  fee_amount: string | null;
  fee_currency: string | null;
  order_date: string;
  maturity_date: Date | null;
  reference: string | null;
  synthetic: boolean;
  beneficiaries: unknown[];
}

const SELECT = `select t.trade_id, t.client_id, t.contact_id, t.parent_trade_id, t.status, t.trade_type, t.rate_symbol, t.rate, t.buy_currency,
  t.sell_currency, t.buy_amount, t.sell_amount, t.fee_amount, t.fee_currency, t.order_date, t.maturity_date, t.reference, t.synthetic,
  coalesce(t.beneficiaries, to_json(array(select distinct p.beneficiary_id from payments p where p.client_id = t.client_id and p.trade_id = t.trade_id
    order by p.beneficiary_id limit 1000))) as beneficiaries
  from trades t`;

/** A trade as events carry it (the service interface, BookedTrade), with the links made from the public address. */
export interface BookedTrade {
  trade_id: string;
  status: TradeStatus;
  [field: string]: unknown;
}

function shown(row: TradeRow, apiUrl: string): BookedTrade {
  const receipt = new URLSearchParams({ type: 'tr', id: row.trade_id, client_id: row.client_id });
  return {
    trade_id: row.trade_id,
    parent_trade_id: row.parent_trade_id,
    status: row.status,
    trade_type: row.trade_type,
    rate_symbol: row.rate_symbol,
    rate: exact(row.rate),
    buy_currency: row.buy_currency,
    sell_currency: row.sell_currency,
    buy_amount: exact(row.buy_amount),
    sell_amount: exact(row.sell_amount),
    fee_amount: exact(row.fee_amount),
    fee_currency: row.fee_currency,
    order_date: row.order_date,
    maturity_date: row.maturity_date && londonTimestamp(row.maturity_date),
    reference: row.reference,
    synthetic: row.synthetic,
    trade_receipt: `${apiUrl}/documents?${receipt}`,
    beneficiaries: row.beneficiaries,
  };
}

/** The operator's view: the booked trade, and whose it is. */
function record(row: TradeRow, apiUrl: string): BookedTrade & { client_id: string; contact_id: string } {
  return { ...shown(row, apiUrl), client_id: row.client_id, contact_id: row.contact_id };
}

/**
 * Reads a trade's fields, each checked.
 * @throws Problem invalid_body, invalid_parameter
 */
export function readTrade(input: TradeInput, now: Date, inside = '') {
  const type = input.trade_type ?? (input.parent_trade_id ? 'drawdown' : 'spot');
  if ((type === 'drawdown') !== Boolean(input.parent_trade_id)) {
    throw new Problem('invalid_body', {
      field: `${inside}parent_trade_id`,
      message: 'is required for a drawdown, and only a drawdown has one',
    });
  }
  if (input.buy_currency === input.sell_currency && input.trade_type !== undefined && type === 'ndf') {
    throw new Problem('invalid_body', { field: `${inside}sell_currency`, message: 'must differ from buy_currency' });
  }
  const rate = decimal(input.rate, `${inside}rate`, { positive: true, decimals: MAX_RATE_DECIMALS });
  const buyAmount = decimal(input.buy_amount, `${inside}buy_amount`, { positive: true });
  // The rate is the price of one unit of the bought currency's counterpart: buy = sell x rate, as `rate_symbol` says (sell/buy).
  const sellAmount =
    input.sell_amount === undefined
      ? new Big(buyAmount).div(rate).round(SETTLEMENT_DECIMALS, Big.roundHalfEven).toFixed()
      : decimal(input.sell_amount, `${inside}sell_amount`, { positive: true });
  const orderDate = input.order_date ?? londonDay(now);
  if (!isCalendarDay(orderDate))
    throw new Problem('invalid_body', { field: `${inside}order_date`, message: 'must be a calendar day, YYYY-MM-DD' });
  const maturity = input.maturity_date ? parseMaturity(input.maturity_date, inside) : null;
  return {
    type,
    rate,
    buyAmount,
    sellAmount,
    orderDate,
    maturity,
    feeAmount: input.fee_amount == null ? null : decimal(input.fee_amount, `${inside}fee_amount`),
    symbol: input.rate_symbol ?? `${input.sell_currency}${input.buy_currency}`,
  };
}

function parseMaturity(text: string, inside: string): Date {
  const instant = parseInstant(text) ?? (isCalendarDay(text) ? new Date(`${text}T00:00:00Z`) : undefined);
  if (!instant)
    throw new Problem('invalid_body', {
      field: `${inside}maturity_date`,
      message: 'must be a day or an ISO 8601 timestamp with an offset',
    });
  return instant;
}

/**
 * Books a trade and notifies TRADE_STATUS_CHANGE.
 * @throws Problem already_exists, client_not_found, contact_not_found, trade_not_found, invalid_body
 */
export async function createTrade(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  input: TradeInput,
  options: { multipaymentId?: number; inside?: string; quiet?: boolean } = {},
): Promise<ReturnType<typeof record>> {
  // A multi payment has checked its own client and contact, once for all of its trades.
  if (options.multipaymentId === undefined)
    await requireContact(tx, { clientId: input.client_id, contactId: input.contact_id });
  const values = readTrade(input, act.now, options.inside);
  const tradeId = input.trade_id ?? (await nextId(tx, 'trade_numbers', 'TRD'));
  await tx.query(
    `insert into trades (trade_id, client_id, contact_id, parent_trade_id, status, trade_type, rate_symbol, rate, buy_currency, sell_currency,
       buy_amount, sell_amount, fee_amount, fee_currency, order_date, maturity_date, reference, synthetic, multipayment_id, created_at, beneficiaries)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
    [
      tradeId,
      input.client_id,
      input.contact_id,
      input.parent_trade_id ?? null,
      input.status ?? 'Created',
      values.type,
      values.symbol,
      values.rate,
      input.buy_currency,
      input.sell_currency,
      values.buyAmount,
      values.sellAmount,
      values.feeAmount,
      input.fee_currency ?? null,
      values.orderDate,
      values.maturity,
      input.reference ?? null,
      input.synthetic ?? false,
      options.multipaymentId ?? null,
      act.now,
      input.beneficiaries ? JSON.stringify(input.beneficiaries) : null,
    ],
  );
  const trade = await findTrade(tx, apiUrl, tradeId);
  await audit(tx, act, {
    action: 'create',
    entity: 'trade',
    entityId: tradeId,
    clientId: input.client_id,
    after: trade,
  });
  if (!options.quiet) await notifyTrade(tx, act.now, trade);
  return trade;
}

/** Gives a trade a status; a new one is notified. @throws Problem trade_not_found */
export async function setTradeStatus(
  tx: Transaction,
  act: Act,
  apiUrl: string,
  tradeId: string,
  status: TradeStatus,
): Promise<ReturnType<typeof record>> {
  const before = (
    await tx.query<{ status: TradeStatus; client_id: string }>(
      'select status, client_id from trades where trade_id = $1 for update',
      [tradeId],
    )
  ).rows[0];
  if (!before) throw new Problem('trade_not_found', { field: 'trade_id', message: 'is no trade' });
  if (before.status !== status) {
    await tx.query('update trades set status = $3 where client_id = $1 and trade_id = $2', [
      before.client_id,
      tradeId,
      status,
    ]);
    await audit(tx, act, {
      action: 'update',
      entity: 'trade',
      entityId: tradeId,
      clientId: before.client_id,
      before: { status: before.status },
      after: { status },
    });
  }
  const trade = await findTrade(tx, apiUrl, tradeId);
  if (before.status !== status) await notifyTrade(tx, act.now, trade);
  return trade;
}

/** Writes a TRADE_STATUS_CHANGE of the trade as it is now. */
export async function notifyTrade(tx: Transaction, now: Date, trade: ReturnType<typeof record>): Promise<void> {
  const { client_id: clientId, contact_id: _contact, ...booked } = trade;
  await notify(tx, { clientId, type: 'TRADE_STATUS_CHANGE', body: JSON.stringify({ data: [booked] }), now });
}

/** @throws Problem trade_not_found */
export async function findTrade(db: Db, apiUrl: string, tradeId: string): Promise<ReturnType<typeof record>> {
  const { rows } = await db.query<TradeRow>(`${SELECT} where t.trade_id = $1`, [tradeId]);
  if (!rows[0]) throw new Problem('trade_not_found', { field: 'trade_id', message: 'is no trade' });
  return record(rows[0], apiUrl);
}

/** A page of trades, of one client where it is given, in the order of their identifiers. */
export async function listTrades(db: Db, apiUrl: string, page: number, pageSize: number, clientId?: string) {
  const where = clientId === undefined ? '' : 'where t.client_id = $3';
  const values = clientId === undefined ? [] : [clientId];
  const { rows } = await db.query<TradeRow>(`${SELECT} ${where} order by t.trade_id limit $1 offset $2`, [
    pageSize,
    (page - 1) * pageSize,
    ...values,
  ]);
  const total = await db.query<{ total: number }>(
    `select count(*) as total from trades t ${where.replace('$3', '$1')}`,
    values,
  );
  return { rows: rows.map((row) => record(row, apiUrl)), total: total.rows[0]?.total ?? 0 };
}

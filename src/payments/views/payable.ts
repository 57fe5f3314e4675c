import { nameKey } from '../../beneficiaries/account-key.ts';
import { type Db, first } from '../../database/database.ts';
import { MAX_DAYS_AHEAD, nextBusinessDay } from '../../exchange/business-days.ts';
import { allocatedOf } from '../../exchange/drawdown.ts';
import { notOfClient } from '../../identity/people/tenant.ts';
import { addDays } from '../../values/calendar.ts';
import { readSettingsOf } from '../order-settings.ts';
import { openDays } from '../payment-date.ts';
import { bankCountry, schemeRuleFor } from '../schemes.ts';

/** What the form of a new payment offers: sources of money, payees and days. */

/** The most trades that are offered. */
const MAX_TRADES = 50;
/** The most payees that are read: one more than the form offers, so that it can say that there are more. */
const MAX_PAYEES = 9;
/** The number of newest payments from which the recently used payees are taken. */
const RECENT_PAYMENTS = 500;
/** The most payees with a matching name that are compared by their last use. */
const MAX_NAMED = 200;

/** What payments can be paid from. Amounts are decimal texts. */
export interface PaymentSources {
  accounts: { account_id: number; currency: string; available: string }[];
  /** The newest first. */
  trades: { trade_id: string; currency: string; available: string; sell_currency: string }[];
}

export async function paymentSources(db: Db, clientId: string): Promise<PaymentSources> {
  const { rows: accounts } = await db.query<PaymentSources['accounts'][number]>(
    'select account_id, currency, balance - held as available from currency_accounts where client_id = $1 order by currency',
    [clientId],
  );
  const { rows: trades } = await db.query<PaymentSources['trades'][number]>(
    `select t.trade_id, t.buy_currency as currency, t.buy_amount - a.allocated as available, t.sell_currency
      from trades t cross join lateral (select ${allocatedOf('t')} as allocated) a
      where t.client_id = $1 and not t.single and t.trade_type not in ('window_forward', 'ndf') and a.allocated < t.buy_amount
        and t.status in ('Created', 'Funds In Partially', 'Funds In Full', 'Funds Out Partially Allocated', 'Funds Out Full Allocated')
      order by t.id desc limit ${MAX_TRADES}`,
    [clientId],
  );
  return { accounts, trades };
}

/** A payee that can be chosen. */
export interface PayablePayee {
  beneficiary_id: string;
  name: string;
  currency: string | null;
  iban: string | null;
  account_number: string | null;
}

const PAYEE = `b.beneficiary_id, b.beneficiary_name as name, b.currency, b.iban, b.account_number`;

/** The payees whose name contains a text, the most recently used first. Without a text, any payee matches. */
export async function payeesByUse(db: Db, clientId: string, text: string): Promise<PayablePayee[]> {
  const { rows } = await db.query<PayablePayee & Record<string, unknown>>(
    `with recent as (
       select p.beneficiary_id, max(p.created) as used from (
         select beneficiary_id, created from payments where client_id = $1 order by created desc, id desc limit ${RECENT_PAYMENTS}) p
       group by p.beneficiary_id),
     named as (
       select beneficiary_id from beneficiaries where client_id = $1 and active and strpos(name_key, $2) > 0
       order by strpos(name_key, $2), name_key, account_id limit ${MAX_NAMED})
     select ${PAYEE} from (select beneficiary_id from recent union select beneficiary_id from named) w
       join beneficiaries b on b.client_id = $1 and b.beneficiary_id = w.beneficiary_id
       left join recent on recent.beneficiary_id = b.beneficiary_id
     where b.active and not b.blocked and strpos(b.name_key, $2) > 0
     order by recent.used desc nulls last, strpos(b.name_key, $2), b.name_key, b.account_id limit ${MAX_PAYEES}`,
    [clientId, nameKey(text)],
  );
  return rows;
}

/** An earlier payment, as the template of a new one. */
export interface PaidBefore {
  /** Null if its payee was deleted. */
  payee: PayablePayee | null;
  /** A decimal text. */
  amount: string;
  reference: string | null;
  charges: string | null;
  reason: string | null;
  /** The source of its money: an account, or else a trade. */
  funding_account_id: number | null;
  trade_id: string | null;
}

/** @throws Problem payment_not_found */
export async function paidBefore(db: Db, clientId: string, paymentId: string): Promise<PaidBefore> {
  const found = first(
    await db.query<PaidBefore & Record<string, unknown>>(
      `select (select row_to_json(s) from (select ${PAYEE} from beneficiaries b
           where b.client_id = $1 and b.beneficiary_id = p.beneficiary_id and b.active) s) as payee,
         p.amount, p.reference, p.charges, p.order_reason as reason, p.funding_account_id,
         case when p.own_trade or p.quote_id is not null then null else p.trade_id end as trade_id
       from payments p where p.client_id = $1 and p.payment_id = $2`,
      [clientId, paymentId],
    ),
  );
  if (!found) throw notOfClient('payment_not_found', 'payment_id');
  return found;
}

/** The days on which a payment can leave. */
export interface PayableDays {
  today: string;
  earliest: string;
  latest: string;
  /** Days of the week that are closed, numbered as in ISO 8601. */
  weekend: readonly number[];
  holidays: readonly { date: string; name: string | null }[];
  /** The time until which a payment still leaves today, in its zone; null: all day. */
  cutoff: { time: string; zone: string } | null;
  /** Why it cannot leave today: the cut-off has passed, or the trade that pays for it matures later. */
  late: 'cutoff' | 'maturity' | null;
}

/** A planned payment. */
interface Payable {
  clientId: string;
  beneficiaryId: string;
  currency: string;
  /** A decimal. */
  amount: string;
  tradeId: string | undefined;
  /** The day on which the exchange that it needs settles. */
  notBefore: string | undefined;
}

/** @throws Problem beneficiary_not_found */
export async function payableDays(
  db: Db,
  { clientId, beneficiaryId, currency: code, amount, tradeId, notBefore }: Payable,
  { now, sepa }: { now: Date; sepa: ReadonlySet<string> },
): Promise<PayableDays> {
  const payee = first(
    await db.query<{ bank_country_code: string | null; iban: string | null; swift_code: string | null }>(
      'select bank_country_code, iban, swift_code from beneficiaries where client_id = $1 and beneficiary_id = $2 and active',
      [clientId, beneficiaryId],
    ),
  );
  if (!payee) throw notOfClient('beneficiary_not_found', 'beneficiary_id');
  const trade = first(
    await db.query<{ maturity_date: Date | null }>(
      'select maturity_date from trades where client_id = $1 and trade_id = $2',
      [clientId, tradeId ?? null],
    ),
  );
  const settings = await readSettingsOf(db, clientId, [code]);
  const currency = settings.currency(code);
  const routed = { payment_currency: code, amount, country: bankCountry(payee) };
  const rule = schemeRuleFor(settings.schemes, routed, sepa);
  const { today, calendar, cutoff, ripe, earliest } = openDays({
    ...{ currency, rule, now },
    maturity: trade?.maturity_date ?? null,
  });
  const settled = notBefore !== undefined && notBefore > earliest;
  return {
    today,
    earliest: nextBusinessDay(settled ? notBefore : earliest, calendar),
    latest: addDays(today, MAX_DAYS_AHEAD),
    weekend: calendar.weekend,
    holidays: rule.every_day ? [] : currency.holidays,
    cutoff: cutoff.time === null ? null : { time: cutoff.time, zone: cutoff.zone },
    late: settled || (ripe === earliest && ripe > today) ? 'maturity' : earliest > today ? 'cutoff' : null,
  };
}

import type { Db } from '../database/database.ts';
import { addDays } from '../values/calendar.ts';

/** Days that are looked back. */
const DAYS = 14;
/** Of each kind, at most. */
const MAX_ROWS = 5;

/** What is in a client's way besides its payments. */
export interface Setback {
  kind: 'trade' | 'file' | 'payee' | 'webhook';
  id: string;
  what: 'unpaid' | 'rejected' | 'failed' | 'rows' | 'blocked' | 'failing' | 'off';
  /** How people know it: a name, an external reference, an address. A trade is known by its id. */
  name: string | null;
  /** What a trade sells, as a decimal text. */
  amount: string | null;
  currency: string | null;
  /** Rows of a file that are wrong. */
  count: number | null;
  /** Since when, where that is known. */
  at: Date | null;
}

/** Whose setbacks, and which of them the contact may see. */
export interface SetbackScope {
  clientId: string;
  now: Date;
  /** The London day. */
  today: string;
  mayReadFiles: boolean;
  mayReadWebhooks: boolean;
}

const trades = (what: string, at: string, condition: string, latest: string) =>
  `(select 'trade' as kind, trade_id as id, '${what}' as what, null as name, trim_scale(sell_amount)::text as amount,
      sell_currency as currency, null::int as count, ${at} as at
    from trades where client_id = $1 and ${condition} order by ${latest} desc limit ${MAX_ROWS})`;
/** A maturity at midnight is a day without a time: that day can still be used to pay. */
const OVERDUE = `maturity_date < $2
  and (maturity_date < $2::timestamptz - interval '1 day' or maturity_date <> date_trunc('day', maturity_date, 'UTC'))`;
/** Each part has its index: of a million trades that ended well, none is read. */
const TRADES = `select * from (
    ${trades('unpaid', 'maturity_date', `status in ('Created', 'Funds In Partially') and not single and ${OVERDUE}`, 'maturity_date')}
    union all
    ${trades('rejected', 'null::timestamptz', "status = 'Rejected' and order_date >= $3::date", 'order_date')}) t limit ${MAX_ROWS}`;

const FILES = `select 'file' as kind, mass_payment_id::text as id, case when status = 'Failed' then 'failed' else 'rows' end as what,
    external_reference_id as name, null as amount, null as currency, errored as count, created_at as at
  from mass_payments where client_id = $1 and created_at >= $2::date and (status = 'Failed' or status = 'Processed' and errored > 0)
  order by created_at desc limit ${MAX_ROWS}`;

const PAYEES = `select 'payee' as kind, beneficiary_id as id, 'blocked' as what, beneficiary_name as name,
    null as amount, null as currency, null::int as count, null::timestamptz as at
  from beneficiaries where client_id = $1 and blocked and active order by account_id desc limit ${MAX_ROWS}`;

const WEBHOOKS = `select 'webhook' as kind, s.id::text as id, case when s.disabled_reason is null then 'failing' else 'off' end as what,
    s.url as name, null as amount, null as currency, null::int as count, coalesce(s.disabled_at, e.failing_since) as at
  from subscriptions s left join webhook_endpoints e on e.subscription_id = s.id
  where s.client_id = $1 and s.deleted_at is null and (s.disabled_reason is not null or s.active and e.failing_since is not null)
  order by s.created_at desc limit ${MAX_ROWS}`;

/**
 * What is in a client's way besides its payments: trades that were not paid for in time or were rejected, files with faults, payees that
 * are blocked, receivers of notifications that fail.
 */
export async function readSetbacks(db: Db, scope: SetbackScope): Promise<Setback[]> {
  const { clientId, now, today, mayReadFiles, mayReadWebhooks } = scope;
  const since = addDays(today, -DAYS);
  const { rows: trades } = await db.query<Setback>(TRADES, [clientId, now, since]);
  const { rows: files } = mayReadFiles ? await db.query<Setback>(FILES, [clientId, since]) : { rows: [] };
  const { rows: payees } = await db.query<Setback>(PAYEES, [clientId]);
  const { rows: webhooks } = mayReadWebhooks ? await db.query<Setback>(WEBHOOKS, [clientId]) : { rows: [] };
  return [...trades, ...files, ...payees, ...webhooks];
}

import { isDistributed } from '../../database/cells/pool.ts';
import type { Db } from '../../database/database.ts';
import { contactNames } from '../../identity/people/contact.ts';
import type { PaymentWebhookStatus } from '../moves.ts';

/** The number of entries to show. Events of other kinds may be many, so the number of events to examine is limited too. */
const MAX_ENTRIES = 10;
const MAX_EVENTS = 200;

/** Something that happened to a payment recently. */
export interface Activity {
  at: Date;
  payment_id: string;
  what: PaymentWebhookStatus;
  /** The person who did it; null if the institution did. */
  by: string | null;
  reason: string | null;
  amount: string;
  payment_currency: string;
  beneficiary_name: string;
  status: string;
}

/** A contact's name. @param id SQL */
const nameOf = (id: string) => `(select k.name from contacts k where k.contact_id = ${id})`;
/** Leaves the identifier in an entry, because a Citus worker holds the payments but not the contacts. */
const itself = (id: string) => id;

/**
 * What happened to the client's payments recently, the newest first. A created payment appears with the result: it waits, or it needed no
 * approval. Imports cause no events, and an erasure empties some. For the newest payments without events, the entries come from the
 * payment's own fields.
 */
export async function recentActivity(db: Db, clientId: string): Promise<Activity[]> {
  if (!isDistributed(db)) return (await db.query<Entry>(activityStatement(nameOf, clientId))).rows;
  const { rows } = await db.query<Entry>(activityStatement(itself, clientId));
  const named = rows.filter(({ what }) => what !== 'PENDING_OF_AUTHORIZATION');
  const names = await contactNames(
    db,
    named.flatMap(({ by }) => by ?? []),
  );
  for (const entry of named) entry.by = names.get(entry.by ?? '') ?? null;
  return rows;
}

type Entry = Activity & Record<string, unknown>;

/**
 * `offset 0` makes each payment a look-up by key. Otherwise the planner, which knows the average client only, may read all of the client's.
 * @param by SQL for the person whom an identifier names
 */
function activityStatement(by: (id: string) => string, clientId: string) {
  return {
    name: `recent-activity-${by.name}`,
    text: `with latest as materialized (
        select e.created_at, e.id, e.payment_id, e.type, e.body from webhook_events e
        where e.client_id = $1 order by e.created_at desc, e.id desc limit ${MAX_EVENTS}),
      told as materialized (
        select l.created_at as at, l.id, l.payment_id, l.body::json -> 'payment_webhook_status' ->> 0 as what from latest l
        where l.type = 'PAYMENT_STATUS_CHANGE' and l.payment_id is not null and l.body <> ''),
      quiet as (
        select coalesce(q.rejected_date, q.cancelled_date, q.authorised_date, q.created) as at, 0::bigint as id, q.payment_id,
          case when q.phase = 1 then 'PENDING_OF_AUTHORIZATION' when q.phase = 4 then 'REJECTED' when q.phase = 5 then 'CANCELLED'
            else 'AUTHORIZED' end as what
        from (select rejected_date, cancelled_date, authorised_date, created, payment_id, phase from payments
          where client_id = $1 order by created desc, id desc limit ${MAX_ENTRIES}) q
        where not exists (select from told s where s.payment_id = q.payment_id))
      select t.at, t.payment_id, t.what, p.amount::text as amount, p.payment_currency, p.beneficiary_name, p.status,
        case t.what when 'PENDING_OF_AUTHORIZATION' then p.ordered_by_name when 'AUTHORIZED' then ${by('p.authorised_by')}
          when 'REJECTED' then ${by('p.rejected_by')} when 'CANCELLED' then ${by('p.cancelled_by')} end as by,
        case when t.what in ('REJECTED', 'CANCELLED') then p.reason end as reason
      from (select * from told union all select * from quiet) t
      cross join lateral (select * from payments where client_id = $1 and payment_id = t.payment_id offset 0) p
      where t.what <> 'CREATED' order by t.at desc, t.id desc limit ${MAX_ENTRIES}`,
    values: [clientId],
  };
}

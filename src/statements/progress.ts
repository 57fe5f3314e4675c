import { type Static, Type } from 'typebox';
import { type Db, first, together } from '../database/database.ts';
import { londonTimestamp } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { Nullable } from '../values/schemas.ts';
import { DELIVERIES, STATEMENT_FORMATS } from './request.ts';

export const PROGRESS_STATES = ['queued', 'running', 'sent', 'failed'] as const;

const day = (description: string) => Type.String({ format: 'date', description });
/** The progress of a statement request, for its client (docs/decisions.md, 5). */
export const STATEMENT_PROGRESS = Type.Object({
  id: Type.String({ format: 'uuid' }),
  state: Type.Enum(PROGRESS_STATES, {
    description:
      'queued: not begun; running: begun, or tried again after a failure; sent: all of it was accepted; failed',
  }),
  requested_at: Type.String({ description: 'London time, ISO 8601' }),
  ended_at: Nullable(Type.String({ description: 'When it was sent or failed, London time; null until then' })),
  format: Type.Enum(STATEMENT_FORMATS),
  date_from: day('First day'),
  date_to: day('Last day, included'),
  currencies: Type.Array(Type.String(), { description: 'Of the accounts that it covers' }),
  delivery: Type.Enum(DELIVERIES),
  sent_to: Type.String({ description: 'The address of the mail, of the push, or of both with a comma between them' }),
  reason: Nullable(Type.String({ description: 'Why it failed, or why it is tried again' })),
});
export type StatementProgress = Static<typeof STATEMENT_PROGRESS>;

interface Row extends Omit<StatementProgress, 'requested_at' | 'ended_at' | 'sent_to'> {
  requested_at: Date;
  ended_at: Date | null;
  email: string;
  push_url: string | null;
}

const SELECT = `select r.statement_id as id, r.created_at as requested_at, r.format, r.date_from, r.date_to, r.delivery,
     r.email, state.*,
     array(select s.currency from statement_sections s where s.client_id = $1 and s.statement_id = r.statement_id
       order by s.currency) as currencies
   from statement_requests r
   cross join lateral (
     select case when bool_or(d.status in ('making', 'retrying')) or bool_or(d.status = 'requested') and bool_or(d.status <> 'requested')
         then 'running' when bool_or(d.status = 'requested') then 'queued' when bool_or(d.status = 'failed') then 'failed'
         else 'sent' end as state,
       case when bool_and(d.finished_at is not null) then max(d.finished_at) end as ended_at,
       (array_agg(d.shown_error order by d.status = 'failed' desc, d.id) filter (where d.shown_error is not null))[1] as reason
     from statement_deliveries d where d.client_id = $1 and d.statement_id = r.statement_id) as state
   where r.client_id = $1`;

/**
 * The progress of a client's statement request.
 * @throws Problem statement_not_found
 */
export async function readProgress(db: Db, clientId: string, id: string): Promise<StatementProgress> {
  const [row] = isUuid(id) ? await readRows(db, 'and r.statement_id = $2', [clientId, id]) : [];
  if (!row) throw new Problem('statement_not_found', { field: 'id', message: 'does not exist' });
  return shown(row);
}

/** A page of a client's statement requests, the newest first. */
export async function listProgress(
  db: Db,
  clientId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: StatementProgress[]; total: number }> {
  const page = 'order by r.created_at desc, r.statement_id desc limit $2 offset $3';
  const rows = await readRows(db, page, [clientId, limit, offset]);
  const counted = await db.query<{ total: number }>(
    'select count(*) as total from statement_requests where client_id = $1',
    [clientId],
  );
  return { rows: rows.map(shown), total: first(counted)?.total ?? 0 };
}

/** The push address is read separately, because it may be on another server. */
async function readRows(db: Db, which: string, values: unknown[]): Promise<Row[]> {
  const address = 'select statement_push_url as push_url from clients where client_id = $1';
  const [{ rows }, clients] = await together([
    db.query<Omit<Row, 'push_url'>>(`${SELECT} ${which}`, values),
    db.query<Pick<Row, 'push_url'>>(address, values.slice(0, 1)),
  ]);
  return rows.map((row) => ({ ...row, push_url: first(clients)?.push_url ?? null }));
}

function shown({ requested_at, ended_at, email, push_url: url, ...rest }: Row): StatementProgress {
  const addresses = { email: [email], push: [bare(url)], both: [email, bare(url)], file: [] }[rest.delivery] ?? [];
  return {
    ...rest,
    requested_at: londonTimestamp(requested_at),
    ended_at: ended_at && londonTimestamp(ended_at),
    sent_to: addresses.filter(Boolean).join(', '),
  };
}

/** An address without its query, which may contain a key. */
function bare(url: string | null): string {
  return url === null ? '' : url.replace(/[?#].*$/s, '');
}

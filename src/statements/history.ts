import { type Static, Type } from 'typebox';
import { unionOfCells } from '../database/cells/union.ts';
import type { Db } from '../database/database.ts';
import { countRows, type List, whereOf } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { Nullable } from '../values/schemas.ts';
import { PROGRESS_STATES } from './progress.ts';

/** The state of a request is that of its least advanced delivery. It is `failed` if all have ended and one has failed. */
export const STATEMENT_STATES = ['requested', 'making', 'retrying', 'sent', 'failed'] as const;
export type StatementState = (typeof STATEMENT_STATES)[number];

export interface StatementFilter {
  clientId?: string | undefined;
  statementId?: string | undefined;
  status?: StatementState | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

const moment = Type.String({ format: 'date-time' });
/**
 * A statement request in the form that the operator sees (docs/operator-interface.md). Fields that the client sees too have the same names
 * as for the client. `status` is more detailed than `state`.
 */
export const STATEMENT = Type.Object({
  id: Type.String({ format: 'uuid' }),
  state: Type.Enum([...PROGRESS_STATES], { description: 'As the client reads it' }),
  requested_at: moment,
  ended_at: Nullable(moment),
  statement_id: Type.String({ format: 'uuid', description: 'The same as `id`' }),
  client_id: Type.String(),
  contact_id: Type.String({ description: 'Contact who asked for it' }),
  date_from: Type.String({ format: 'date' }),
  date_to: Type.String({ format: 'date' }),
  format: Type.String(),
  delivery: Type.String(),
  currencies: Type.Array(Type.String()),
  status: Type.Enum([...STATEMENT_STATES], { description: 'Finer than `state`' }),
  created_at: Type.String({ format: 'date-time', description: 'The same as `requested_at`' }),
  request_id: Type.String(),
  deliveries: Type.Array(
    Type.Object({
      channel: Type.String({ description: 'email or push' }),
      currency: Nullable(Type.String({ description: 'Null: the whole statement' })),
      status: Type.Enum([...STATEMENT_STATES]),
      attempts: Type.Integer(),
      last_error: Nullable(Type.String()),
      next_attempt_at: Nullable(moment),
      finished_at: Nullable(moment),
    }),
  ),
});
type StatementRequest = Static<typeof STATEMENT>;

/** @param client SQL for the tenant */
const deliveries = (client: string) => `cross join lateral (
    select case when bool_or(d.status = 'making') then 'making' when bool_or(d.status = 'retrying') then 'retrying'
        when bool_or(d.status = 'requested') then 'requested' when bool_or(d.status = 'failed') then 'failed' else 'sent' end as status,
      json_agg(json_build_object('channel', d.channel, 'currency', nullif(d.currency, ''), 'status', d.status, 'attempts', d.attempts,
        'last_error', d.last_error, 'next_attempt_at', case when d.finished_at is null then d.due_at end, 'finished_at', d.finished_at)
        order by d.id) as deliveries
    from statement_deliveries d where d.client_id = ${client} and d.statement_id = r.statement_id) as state`;

const columns = (
  client: string,
) => `r.statement_id, r.client_id, r.contact_id, r.date_from, r.date_to, r.format, r.delivery,
  array(select s.currency from statement_sections s where s.client_id = ${client} and s.statement_id = r.statement_id order by s.currency) as currencies,
  state.status, r.created_at, r.request_id, state.deliveries`;

/** Requests, newest first, and their total number. Without a client, more than 10,000 are not counted. */
export async function listStatements(
  db: Db,
  { clientId, statementId, status, from, to }: StatementFilter,
  page: { limit: number; offset: number },
): Promise<List<StatementRequest>> {
  const { where, values } = whereOf([
    ['r.client_id = ?', clientId],
    ['r.created_at >= ?', from],
    ['r.created_at < ?', to],
    ['state.status = ?', status],
    ['r.statement_id = ?', statementId],
  ]);
  const all = `statement_requests r ${deliveries('r.client_id')}`;
  const [limit, offset] = [`$${values.length + 1}::int`, `$${values.length + 2}::bigint`];
  const found = `select ${columns('r.client_id')} from ${all} where ${where} order by r.created_at desc, r.statement_id desc`;
  const union = clientId === undefined ? unionOfCells(db, 'statement_requests') : undefined;
  const { rows } = await db.query<StatementRow>(
    union
      ? `select * from (${union(`${found} limit ${limit} + ${offset}`)}) r order by created_at desc, statement_id desc limit ${limit} offset ${offset}`
      : `${found} limit ${limit} offset ${offset}`,
    [...values, page.limit, page.offset],
  );
  // Only a filter by status has to examine the deliveries of each request.
  const counted = status === undefined ? 'statement_requests r' : all;
  const total = await countRows(db, { from: counted, where, values, bounded: clientId === undefined });
  return { total, rows: rows.map(shown) };
}

/** Requests of a client, for the change feed. */
export async function readStatements(db: Db, clientId: string, ids: readonly string[]): Promise<StatementRequest[]> {
  const { rows } = await db.query<StatementRow>(
    `select ${columns('$1')} from statement_requests r ${deliveries('$1')}
     where r.client_id = $1 and r.statement_id = any($2::uuid[])`,
    [clientId, ids],
  );
  return rows.map(shown);
}

type StatementRow = Omit<StatementRequest, 'id' | 'state' | 'requested_at' | 'ended_at' | 'created_at'> & {
  created_at: Date;
};

function shown(row: StatementRow): StatementRequest {
  const utc = (text: string | null) => text && new Date(text).toISOString();
  const deliveries = row.deliveries.map((delivery) => ({
    ...delivery,
    next_attempt_at: utc(delivery.next_attempt_at),
    finished_at: utc(delivery.finished_at),
  }));
  const finished = deliveries.map(({ finished_at }) => finished_at);
  return {
    id: row.statement_id,
    state: stateOf(row),
    requested_at: row.created_at.toISOString(),
    ended_at: finished.includes(null) ? null : (finished.sort().at(-1) ?? null),
    ...row,
    created_at: row.created_at.toISOString(),
    deliveries,
  };
}

/** The state that the client sees (progress.ts). */
function stateOf({ status, deliveries }: StatementRow): StatementRequest['state'] {
  if (status === 'sent' || status === 'failed') return status;
  return deliveries.every((delivery) => delivery.status === 'requested') ? 'queued' : 'running';
}

/** @throws Problem statement_not_found */
export async function findStatement(db: Db, id: string): Promise<StatementRequest> {
  const found = isUuid(id) ? await listStatements(db, { statementId: id }, { limit: 1, offset: 0 }) : undefined;
  if (!found?.rows[0]) throw new Problem('statement_not_found', { field: 'id', message: 'does not exist' });
  return found.rows[0];
}

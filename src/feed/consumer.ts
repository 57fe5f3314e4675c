import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, one, type Transaction } from '../database/database.ts';
import { Problem } from '../values/errors.ts';
import type { Cursors } from './cursor.ts';

/** A reader of the feed for which the service remembers how far it has taken the changes. */
export interface Consumer {
  name: string;
  cursor: string;
  acknowledged_at: string;
  lag_changes: number;
  /** How long the oldest unacknowledged change has waited; 0 if there is none. */
  lag_seconds: number;
}

/** Its name in the audit trail. */
const ENTITY = 'change_consumer';

interface ConsumerRow {
  name: string;
  position: number;
  acknowledged_at: Date;
  last: number;
  waiting_since: Date | null;
}

const SELECT = `select c.name, c.position, c.acknowledged_at,
  coalesce((select o.position + o.changes - 1 from change_order o order by o.position desc limit 1), 0) as last,
  (select o.at from change_order o where o.position <= c.position + 1 and o.position + o.changes - 1 > c.position
    order by o.position desc limit 1) as waiting_since
  from change_consumers c`;

/** All consumers in the order of their names. */
export async function listConsumers(db: Db, cursors: Cursors, now: Date): Promise<Consumer[]> {
  const { rows } = await db.query<ConsumerRow>(`${SELECT} order by c.name`);
  return rows.map((row) => shown(row, cursors, now));
}

/** The position that a consumer has acknowledged. @throws Problem consumer_not_found */
export async function consumerPosition(db: Db, name: string, field: string): Promise<number> {
  const row = first(
    await db.query<{ position: number }>('select position from change_consumers where name = $1', [name]),
  );
  return row?.position ?? noConsumer(field);
}

/**
 * Acknowledges the changes up to a position. The first call creates the consumer. The audit trail records that call and each step back, but
 * not the many ordinary acknowledgements.
 * @param options `rewind`: allows a position before the one that was acknowledged
 * @throws Problem cursor_behind
 */
export async function acknowledge(
  tx: Transaction,
  act: Act,
  cursors: Cursors,
  { name, position, rewind }: { name: string; position: number; rewind: boolean },
): Promise<Consumer> {
  const former = await heldPosition(tx, name);
  const written = await tx.query(
    `insert into change_consumers as c (name, position, acknowledged_at) values ($1, $2, $3)
     on conflict (name) do update set position = excluded.position, acknowledged_at = excluded.acknowledged_at
     where $4 or c.position <= excluded.position`,
    [name, position, act.now, rewind],
  );
  if (written.rowCount === 0) {
    throw new Problem('cursor_behind', {
      field: 'cursor',
      message: 'must not be before the cursor that was acknowledged, unless rewind=true is given',
    });
  }
  const row = one(await tx.query<ConsumerRow>(`${SELECT} where c.name = $1`, [name]));
  if (former === undefined || position < former) {
    const before = former === undefined ? undefined : { cursor: cursors.write(former) };
    const action = before ? 'update' : 'create';
    audit(tx, act, {
      action,
      entity: ENTITY,
      entityId: name,
      before,
      after: { cursor: cursors.write(position) },
    });
  }
  return shown(row, cursors, act.now);
}

/** Forgets a consumer. @throws Problem consumer_not_found */
export async function deleteConsumer(
  tx: Transaction,
  act: Act,
  { cursors, name }: { cursors: Cursors; name: string },
): Promise<void> {
  const former = await heldPosition(tx, name);
  if (former === undefined) noConsumer('name');
  await tx.query('delete from change_consumers where name = $1', [name]);
  audit(tx, act, { action: 'delete', entity: ENTITY, entityId: name, before: { cursor: cursors.write(former) } });
}

async function heldPosition(tx: Transaction, name: string): Promise<number | undefined> {
  const sql = 'select position from change_consumers where name = $1 for update';
  return first(await tx.query<{ position: number }>(sql, [name]))?.position;
}

function shown(row: ConsumerRow, cursors: Cursors, now: Date): Consumer {
  const lag = row.last - row.position;
  const waited = row.waiting_since ? (now.getTime() - row.waiting_since.getTime()) / 1_000 : 0;
  return {
    name: row.name,
    cursor: cursors.write(row.position),
    acknowledged_at: row.acknowledged_at.toISOString(),
    lag_changes: lag,
    lag_seconds: lag === 0 ? 0 : Math.max(0, Math.floor(waited)),
  };
}

/** @throws Problem consumer_not_found, always */
function noConsumer(field: string): never {
  throw new Problem('consumer_not_found', { field, message: 'does not name a consumer' });
}

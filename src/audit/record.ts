import { createHash } from 'node:crypto';
import { overAll, unionOfCells } from '../database/cells/union.ts';
import { type Db, endStep, leaveWork, type Transaction } from '../database/database.ts';
import { isKind, KINDS } from '../database/kinds.ts';
import { leaveMark, type Mark } from '../database/lost-commit.ts';
import type { Act } from './act.ts';
import { noteChange } from './change.ts';

/**
 * The audit trail: a row for every change, written in the transaction of the change and never changed afterwards. Rows are chained shortly
 * after they are committed (src/audit/). Chaining them inside the business transactions would make those wait for each other.
 */

/** A longer value is stored as its hash, because an audit row is not a second archive. */
const MAX_VALUE_CHARACTERS = 65_536;

const SECRET_KEYS = new Set([
  'password',
  'password_hash',
  'secret',
  'client_secret',
  'statement_push_secret',
  'token',
  'totp',
  'totp_secret',
  'uri',
  'former_secrets',
]);

export interface AuditEntry {
  action: 'create' | 'update' | 'delete' | 'import' | 'action';
  /** The entity's noun, such as `payment`. */
  entity: string;
  entityId: string;
  clientId?: string | null;
  before?: unknown;
  after?: unknown;
}

/** Writes the rows of a change. Secrets in `before` and `after` become `[redacted]`. */
export function audit(tx: Transaction, act: Act, ...entries: AuditEntry[]): void {
  for (const entry of entries) noteAudited(tx, act, entry);
  writeRows(
    tx,
    entries.map((entry) => ({ act, entry })),
  );
}

/** What one of several acts in a transaction has changed. */
export interface AuditStep {
  act: Act;
  entries: AuditEntry[];
  /** Notes changes that have no audit row. */
  note(): void;
  /** What follows from them: the feed shows these changes after the others. */
  following?: AuditEntry[];
}

/** Like `audit`, for acts that share a transaction. Each is a separate step in the change feed. */
export function auditSteps(tx: Transaction, steps: readonly AuditStep[]): void {
  for (const [index, { act, entries, note, following = [] }] of steps.entries()) {
    if (index > 0) tx.meanwhile(endStep(tx));
    for (const entry of entries) noteAudited(tx, act, entry);
    note();
    for (const entry of following) noteAudited(tx, act, entry);
  }
  writeRows(
    tx,
    steps.flatMap(({ act, entries, following = [] }) => [...entries, ...following].map((entry) => ({ act, entry }))),
  );
}

function writeRows(tx: Transaction, all: { act: Act; entry: AuditEntry }[]): void {
  const rows = all.filter(({ act }) => !act.summarised);
  if (rows.length === 0) return;
  leaveWork(tx, 'audit');
  const statement = {
    name: 'audit',
    text: `insert into audit (at, actor, request_id, reason, staff, action, entity, entity_id, client_id, before, after)
      select * from unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::json[], $6::text[], $7::text[], $8::text[], $9::text[],
        $10::json[], $11::json[]) returning at, id`,
    values: [
      rows.map(({ act }) => act.now),
      rows.map(({ act }) => act.actor),
      rows.map(({ act }) => act.requestId),
      rows.map(({ act }) => act.reason ?? null),
      rows.map(({ act }) => (act.staff ? JSON.stringify(act.staff) : null)),
      rows.map(({ entry }) => entry.action),
      rows.map(({ entry }) => entry.entity),
      rows.map(({ entry }) => entry.entityId),
      rows.map(({ entry }) => entry.clientId ?? null),
      rows.map(({ entry }) => document(entry.before)),
      rows.map(({ entry }) => document(entry.after)),
    ],
  };
  tx.later<{ at: Date; id: number }>(statement, ({ rows: [first] }) => leaveMark(tx, markOf(first, rows[0])));
}

/**
 * The mark of a transaction is a row that it has written to the trail. A server that is killed may reuse the number of a lost row for
 * another row, even with the same moment. So the row must also belong to the request.
 */
function markOf(row: { at: Date; id: number } | undefined, written: { act: Act; entry: AuditEntry } | undefined): Mark {
  const place = [row?.at, row?.id];
  return {
    waits: { text: TAKE, values: place },
    text: `select exists (select from audit where at = $1 and id = $2 and request_id = $3 and actor = $4 and entity_id = $5) as stands`,
    values: [...place, written?.act.requestId, written?.act.actor, written?.entry.entityId],
  };
}

/** Waits for the transaction that has written a row of the trail. */
const TAKE = `insert into audit (id, at, actor, request_id, action, entity, entity_id) overriding system value
  values ($2, $1, 'service:database', '', 'action', 'audit', '') on conflict (at, id) do nothing`;

/** A value in the form that the feed may use: without secrets, which it never shows. */
function withoutSecrets(value: unknown): string {
  return JSON.stringify(value ?? null, (key, inner) => (SECRET_KEYS.has(key) ? undefined : inner));
}

/** The feed's name for an action of the audit trail. Other actions, such as sending notifications again, change no record that the feed shows. */
function fedAction(entity: string, action: string | undefined): string | undefined {
  if (entity === 'payment' || action === 'reset') return action;
  return action === 'erase' ? 'update' : undefined;
}

/** Notes the change of an audit row for the change feed. An update that leaves the record unchanged does not count. */
function noteAudited(tx: Transaction, act: Act, entry: AuditEntry): void {
  const { action, entity, entityId: id, before, after } = entry;
  if (!isKind(entity) || !KINDS[entity].audited || action === 'import' || action === 'delete') return;
  if (action === 'update' && (before == null || after == null || withoutSecrets(before) === withoutSecrets(after)))
    return;
  const was = before as { status?: string } | undefined;
  const is = after as { action?: string; status?: string } | undefined;
  const called = action === 'action' ? fedAction(entity, is?.action) : action;
  if (called === undefined) return;
  noteChange(tx, act, {
    entity,
    id,
    clientId: entry.clientId ?? null,
    action: called,
    created: action === 'create',
    ...(entity === 'contact' && { members: clientsOf(before, after) }),
    ...(action === 'action' && was?.status !== is?.status && { movedTo: is?.status }),
  });
}

function clientsOf(...contacts: unknown[]): string[] {
  const lists = contacts.map((contact) => (contact as { clients?: { client_id: string }[] } | null)?.clients ?? []);
  return [...new Set(lists.flat().map((client) => client.client_id))];
}

function document(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = JSON.stringify(value, (key, inner) => (SECRET_KEYS.has(key) && inner != null ? '[redacted]' : inner));
  if (text.length <= MAX_VALUE_CHARACTERS) return text;
  return JSON.stringify({ sha256: createHash('sha256').update(text).digest('hex'), length: text.length });
}

/** What the trail says about a record. */
export interface AuditOfRecord {
  at: Date;
  actor: string;
  request_id: string;
  action: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  reason: string | null;
}

/**
 * What the trail says about a record, oldest row first. Rows that are not in the chain yet count as the newest. The rows of a client that
 * was moved are in several cells.
 */
export async function auditOf(
  db: Db,
  { entity, entityId, limit }: { entity: string; entityId: string; limit: number },
): Promise<AuditOfRecord[]> {
  const { rows } = await overAll(db, () => {
    const union = unionOfCells(db, 'audit_chain');
    const values = [entity, entityId, limit];
    return union
      ? db.query<AuditOfRecord>(`select * from (${union(OF_RECORD)}) a order by ${TRAIL_ORDER} limit $3`, values)
      : db.query<AuditOfRecord>({ name: 'audit-of-record', text: OF_RECORD, values });
  });
  return rows;
}

/** Numbers tell nothing about rows of different cells: those of a cell begin at a number of its own. */
const TRAIL_ORDER = 'position nulls last, at, id';
const OF_RECORD = `with found as materialized (
    (select at, audit_id as id, position from audit_chain where entity_id = $2 and entity = $1 order by position limit $3)
    union all select at, id, null from audit_unsealed)
  select f.position, a.id, a.at, a.actor, a.request_id, a.action, a.before, a.after, a.reason from found f
  cross join lateral (select * from audit where at = f.at and id = f.id offset 0) a
  where a.entity = $1 and a.entity_id = $2 order by ${TRAIL_ORDER} limit $3`;

import { createHash } from 'node:crypto';
import { type ChangeEntity, noteChange } from './change.ts';
import type { Act } from './context.ts';
import { type Db, first, type Pool, transaction } from './database.ts';
import { LOCKS } from './locks.ts';

/**
 * The audit trail: a row for every change, written in the transaction of the change, never changed afterwards.
 * Rows are chained by hash shortly after they are committed (`sealAudit`, every second and before every verification).
 * Chaining them inside the business transactions would make those wait for each other.
 */

/** Sealed or verified in one statement. */
const SEAL_BATCH_ROWS = 5_000;
/** A longer value is stored as its hash: an audit row is not a second archive. */
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
  /** The entity's noun, as `payment`. */
  entity: string;
  entityId: string;
  clientId?: string | null;
  before?: unknown;
  after?: unknown;
}

/** Writes the rows of a change; secrets in `before` and `after` become `[redacted]`. */
export async function audit(tx: Db, act: Act, ...entries: AuditEntry[]): Promise<void> {
  for (const entry of entries) noteAudited(tx, act, entry);
  if (entries.length === 0 || act.summarised) return;
  await tx.query({
    name: 'audit',
    text: `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, before, after)
      select $1, $2, $3, * from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::json[])`,
    values: [
      act.now,
      act.actor,
      act.requestId,
      entries.map((entry) => entry.action),
      entries.map((entry) => entry.entity),
      entries.map((entry) => entry.entityId),
      entries.map((entry) => entry.clientId ?? null),
      entries.map((entry) => document(entry.before)),
      entries.map((entry) => document(entry.after)),
    ],
  });
}

/** Entities whose audit row and change in the feed have the same name and identifier. The others note their changes themselves. */
const FED = new Set<string>([
  ...['client', 'contact', 'application', 'account', 'currency_account', 'beneficiary', 'trade', 'payment'],
  ...['mass_beneficiary', 'transaction', 'subscription'],
]);

/** What the feed knows of a value: without secrets, which it never shows. */
function withoutSecrets(value: unknown): string {
  return JSON.stringify(value ?? null, (key, inner) => (SECRET_KEYS.has(key) ? undefined : inner));
}

/** Notes what an audit row tells for the change feed. An update that leaves the record as it was is no change. */
function noteAudited(tx: Db, act: Act, entry: AuditEntry): void {
  const { action, entity, entityId: id, before, after } = entry;
  if (!FED.has(entity) || action === 'import' || action === 'delete') return;
  if (action === 'update' && (before == null || after == null || withoutSecrets(before) === withoutSecrets(after)))
    return;
  const was = before as { status?: string } | undefined;
  const is = after as { action?: string; status?: string } | undefined;
  noteChange(tx, act, {
    entity: entity as ChangeEntity,
    id,
    clientId: entity === 'contact' || entity === 'application' ? null : (entry.clientId ?? null),
    action: action === 'action' ? (is?.action ?? 'update') : action,
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

interface ChainRow {
  id: number;
  content: string;
  hash: Buffer | null;
  position: number | null;
}

const CONTENT = `concat_ws(E'\\x1f', a.id, to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), a.actor, a.request_id, a.action, a.entity,
  a.entity_id, coalesce(a.client_id, ''), coalesce(a.before::text, ''), coalesce(a.after::text, ''))`;

/** The hash of a row: SHA-256 over the hash before it and the row's content. */
function link(previous: Buffer, content: string): Buffer {
  return createHash('sha256').update(previous).update(content, 'utf8').digest();
}

const GENESIS = Buffer.alloc(32);

/** Chains the rows that were committed since the last call; returns how many. One process works at a time, the others wait. */
export async function sealAudit(pool: Pool): Promise<number> {
  return transaction(pool, async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [LOCKS.auditSeal]);
    const last = await tx.query<{ position: number; hash: Buffer }>(
      'select position, hash from audit_chain order by position desc limit 1',
    );
    const { position, hash } = first(last) ?? { position: 0, hash: GENESIS };
    let previous = hash;
    const { rows } = await tx.query<ChainRow>(
      `select a.id, ${CONTENT} as content from audit a
       where a.id in (select u.id from audit_unsealed u order by u.id limit $1) order by a.id`,
      [SEAL_BATCH_ROWS],
    );
    if (rows.length === 0) return 0;
    const hashes = rows.map((row) => {
      previous = link(previous, row.content);
      return previous;
    });
    const from = position + 1;
    const ids = rows.map((row) => row.id);
    await tx.query(
      'insert into audit_chain (position, audit_id, hash) select $1 + n - 1, id, hash from unnest($2::bigint[], $3::bytea[]) with ordinality as u(id, hash, n)',
      [from, ids, hashes],
    );
    await tx.query('delete from audit_unsealed where id = any($1::bigint[])', [ids]);
    return rows.length;
  });
}

/** Whether the chain is valid: every sealed row has its sealed content, no row is missing, and no row is outside the chain. */
export async function verifyAudit(pool: Pool): Promise<{ valid: boolean; rows: number; first_invalid: number | null }> {
  while ((await sealAudit(pool)) === SEAL_BATCH_ROWS) {
    // Everything that was committed before this call is verified.
  }
  let previous: Buffer = GENESIS;
  let position = 0;
  for (;;) {
    const { rows } = await pool.query<ChainRow & { audit_id: number }>(
      `select c.position, c.audit_id, c.hash, a.id, ${CONTENT} as content from audit_chain c left join audit a on a.id = c.audit_id
       where c.position > $1 order by c.position limit $2`,
      [position, SEAL_BATCH_ROWS],
    );
    for (const row of rows) {
      previous = link(previous, row.content);
      if (row.id === null || row.position !== position + 1 || !row.hash?.equals(previous)) {
        return { valid: false, rows: position, first_invalid: row.audit_id };
      }
      position += 1;
    }
    if (rows.length < SEAL_BATCH_ROWS) break;
  }
  const outside = await pool.query<{ id: number }>(
    `select a.id from audit a where not exists (select from audit_chain c where c.audit_id = a.id)
     and not exists (select from audit_unsealed u where u.id = a.id) order by a.id limit 1`,
  );
  return { valid: outside.rows.length === 0, rows: position, first_invalid: outside.rows[0]?.id ?? null };
}

/** Which rows of the trail to list; undefined: any. */
export interface AuditFilter {
  entity?: string | undefined;
  entityId?: string | undefined;
  clientId?: string | undefined;
  actor?: string | undefined;
  /** Included. */
  from?: Date | undefined;
  /** Excluded. */
  to?: Date | undefined;
}

/** A page of the audit trail, the oldest row first, and how many rows match. */
export async function listAudit(
  db: Db,
  filter: AuditFilter,
  page: { limit: number; offset: number },
): Promise<{ rows: object[]; total: number }> {
  const conditions: [string, unknown][] = [
    ['entity =', filter.entity],
    ['entity_id =', filter.entityId],
    ['client_id =', filter.clientId],
    ['actor =', filter.actor],
    ['at >=', filter.from],
    ['at <', filter.to],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const values = given.map(([, value]) => value);
  const where = given.map(([condition], index) => `${condition} $${index + 1}`).join(' and ') || 'true';
  const { rows } = await db.query(
    `select id, at, actor, request_id, action, entity, entity_id, client_id, before, after
     from audit where ${where} order by id limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, page.limit, page.offset],
  );
  const counted = await db.query<{ total: number }>(`select count(*) as total from audit where ${where}`, values);
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

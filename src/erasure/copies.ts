import { type Pool, type Transaction, transaction } from '../database/database.ts';
import { type Copies, KIND_NAMES, KINDS } from '../database/kinds.ts';
import { mapRecords } from '../feed/line.ts';
import type { PersonEraser } from './person.ts';

/** The number of rows that one transaction examines. */
const BATCH_ROWS = 1_000;
/** The same for rows that hold hundreds of records each. */
const LARGE_BATCH_ROWS = 40;

/** Where copies of a person are searched for. Records come before the changes that show them. */
export const PLACES: readonly Copies[] = [
  ...KIND_NAMES.flatMap((kind) => KINDS[kind].copies ?? []),
  { table: 'changes', key: 'batch, place', columns: { body: 'changes' }, batchRows: LARGE_BATCH_ROWS },
  { table: 'changes_recent', key: 'batch, place', columns: { body: 'changes' }, batchRows: LARGE_BATCH_ROWS },
  { table: 'import_errors', key: 'import_id, line', columns: { details: 'text' } },
  { table: 'mailbox', key: 'id', columns: { mail: 'mail' } },
  { table: 'text_messages', key: 'id', columns: { recipient: 'text', text: 'text' } },
  { table: 'mails', key: 'id', columns: { last_error: 'text' } },
  { table: 'refused_requests', key: 'id', columns: { route: 'text', details: 'text' } },
  { table: 'sign_in_attempts', key: 'id', columns: { email: 'text' } },
  {
    table: 'sandbox_requests',
    key: 'id',
    columns: { path: 'text', details: 'text', request_body: 'text', response_body: 'text' },
  },
];

/** Counts what was replaced, in the same transaction. */
export type Note = (tx: Transaction, rows: number) => Promise<void>;

/** Replaces the person everywhere except in the audit trail and the notifications. */
export async function eraseCopies(pool: Pool, eraser: PersonEraser, note: Note): Promise<void> {
  await erasePayments(pool, eraser, note);
  await transaction(pool, async (tx) => {
    const { contactId } = eraser.person;
    const { rowCount } = await tx.query(
      `update statement_requests set email = 'erased+' || $1, contact_name = 'erased'
       where contact_id = $1 and (email, contact_name) <> ('erased+' || $1, 'erased')`,
      [contactId],
    );
    await note(tx, rowCount ?? 0);
  });
  for (const place of PLACES) await erasePlace(pool, eraser, { place, note });
}

/** Erases the person in the payments that it ordered, and in those that an import brought with its name. */
async function erasePayments(pool: Pool, { person }: PersonEraser, note: Note): Promise<void> {
  for (let last = 0; ; ) {
    const end = await transaction(pool, async (tx) => {
      const { rows } = await tx.query<{ id: number }>(
        `select id from payments where id > $1 and (contact_id = $2 or ordered_by_name = any($3) or authorised_by = any($3)
           or cancelled_by = any($3) or rejected_by = any($3)) order by id limit ${BATCH_ROWS}`,
        [last, person.contactId, person.names],
      );
      const { rowCount } = await tx.query(
        `update payments set ordered_by_name = case when contact_id = $2 and ordered_by_name = any($3) then 'erased' else ordered_by_name end,
           authorised_by = case when authorised_by = any($3) then 'erased' else authorised_by end,
           cancelled_by = case when cancelled_by = any($3) then 'erased' else cancelled_by end,
           rejected_by = case when rejected_by = any($3) then 'erased' else rejected_by end
         where id = any($1) and (contact_id = $2 and ordered_by_name = any($3) or authorised_by = any($3) or cancelled_by = any($3)
           or rejected_by = any($3))`,
        [rows.map(({ id }) => id), person.contactId, person.names],
      );
      await note(tx, rowCount ?? 0);
      return rows.length < BATCH_ROWS ? undefined : rows.at(-1)?.id;
    });
    if (end === undefined) return;
    last = end;
  }
}

interface FoundRow {
  keys: string[];
  [column: string]: unknown;
}

async function erasePlace(
  pool: Pool,
  eraser: PersonEraser,
  { place, note }: { place: Copies; note: Note },
): Promise<void> {
  const { table, key, columns, batchRows = BATCH_ROWS } = place;
  const names = Object.keys(columns);
  const keys = key.split(', ');
  for (let last: string[] | undefined; ; ) {
    const behind = keys.map((_, index) => `$${index + 2}`).join(', ');
    const found = await transaction(pool, async (tx) => {
      const { rows } = await tx.query<FoundRow>(
        `select array[${keys.map((each) => `${each}::text`).join(', ')}] as keys, ${names.map((name) => `${name}::text as ${name}`).join(', ')} from ${table}
         where (${names.map((name) => `${name}::text ~* $1`).join(' or ')}) ${last ? `and (${key}) > (${behind})` : ''}
         order by ${key} limit ${batchRows}`,
        [eraser.searchPattern, ...(last ?? [])],
      );
      for (const row of rows) await note(tx, await replaceRow(tx, eraser, { place, row }));
      return rows;
    });
    if (found.length < batchRows) return;
    last = found.at(-1)?.keys;
  }
}

async function replaceRow(
  tx: Transaction,
  eraser: PersonEraser,
  { place, row }: { place: Copies; row: FoundRow },
): Promise<number> {
  const changed = Object.entries(place.columns).flatMap(([column, kind]) => {
    const text = row[column];
    if (typeof text !== 'string') return [];
    const clean = cleanText(eraser, kind, text);
    return clean === text ? [] : [[column, clean] as const];
  });
  if (changed.length === 0) return 0;
  const keys = place.key.split(', ');
  const set = changed.map(([column], index) => `${column} = $${keys.length + index + 1}`).join(', ');
  const where = keys.map((key, index) => `${key} = $${index + 1}`).join(' and ');
  const { rowCount } = await tx.query(`update ${place.table} set ${set} where ${where}`, [
    ...row.keys,
    ...changed.map(([, clean]) => clean),
  ]);
  return rowCount ?? 0;
}

function cleanText(eraser: PersonEraser, kind: Copies['columns'][string], text: string): string {
  if (kind === 'mail') return eraser.mail(text);
  if (kind === 'text') return eraser.text(text);
  if (kind === 'json') return eraser.json(text, false);
  const { contactId } = eraser.person;
  return mapRecords(text, (record, { entity, id }) => eraser.json(record, entity === 'contact' && id === contactId));
}

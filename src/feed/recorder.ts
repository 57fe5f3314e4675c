import { type Change, type Changes, takeChanges } from '../change.ts';
import { type Columns, copyRows } from '../copy.ts';
import type { Transaction, TransactionHooks } from '../database.ts';
import type { Presentation } from '../payments/presentation.ts';
import { keyOf, type RecordText, readRecords } from './records.ts';

/** Records that are read and written at once. They take some megabytes. */
const MAX_RECORDS_AT_ONCE = 1_000;
/** From so many rows on COPY costs less than INSERT. */
const MIN_COPIED_ROWS = 20;

/** A row of the table `changes`. */
interface ChangeRow {
  batch: number;
  place: number;
  at: Date;
  entity: string;
  entity_id: string;
  client_id: string | null;
  members: string | null;
  version: number;
  action: string;
  actor: string;
  request_id: string;
  data: string;
  tally: string | null;
  currency: string | null;
  amount: string | null;
}

const COLUMNS: Columns<ChangeRow, ChangeRow> = {
  batch: (row) => row.batch,
  place: (row) => row.place,
  at: (row) => row.at,
  entity: (row) => row.entity,
  entity_id: (row) => row.entity_id,
  client_id: (row) => row.client_id,
  members: (row) => row.members,
  version: (row) => row.version,
  action: (row) => row.action,
  actor: (row) => row.actor,
  request_id: (row) => row.request_id,
  data: (row) => row.data,
  tally: (row) => row.tally,
  currency: (row) => row.currency,
  amount: (row) => row.amount,
};

const TYPES = 'bigint, int, timestamptz, text, text, text, text[], int, text, text, text, text, text, text, numeric';
const INSERT = `insert into changes (${Object.keys(COLUMNS).join(', ')}) select * from unnest(${TYPES.split(', ')
  .map((type, index) => `$${index + 1}::${type === 'text[]' ? 'text' : type}[]`)
  .join(', ')}) as u(${Object.keys(COLUMNS).join(', ')})`.replace('select *', `select ${selected()}`);

/** PostgreSQL has no arrays of arrays of different lengths, so that members come as texts. */
function selected(): string {
  return Object.keys(COLUMNS)
    .map((column) => (column === 'members' ? 'members::text[]' : column))
    .join(', ');
}

/**
 * Writes what a transaction has changed, as its last statements. First it raises the versions, which locks them until the commit, in
 * one order for everybody. Only then does it read the records and take the number of its batch. So a change shows everything that
 * was committed before it, and two changes of one record have their numbers in the order of their versions.
 */
export class ChangeRecorder implements TransactionHooks {
  readonly #presentation: () => Presentation;

  /** @param presentation asked for each time: the public address is final only once the client API listens */
  constructor(presentation: () => Presentation) {
    this.#presentation = presentation;
  }

  async beforeCommit(tx: Transaction): Promise<void> {
    const changes = takeChanges(tx);
    if (!changes) return;
    const all = [...changes.records.values()];
    const versions = await raiseVersions(tx, all);
    const rows = await this.#rows(tx, changes, all.slice(0, MAX_RECORDS_AT_ONCE), versions);
    const batch = await openBatch(tx, all.length, changes.act.now);
    await write(tx, batch, 0, rows);
    for (let place = MAX_RECORDS_AT_ONCE; place < all.length; place += MAX_RECORDS_AT_ONCE) {
      const part = all.slice(place, place + MAX_RECORDS_AT_ONCE);
      await write(tx, batch, place, await this.#rows(tx, changes, part, versions));
    }
  }

  ended(tx: Transaction): void {
    takeChanges(tx);
  }

  async #rows(
    tx: Transaction,
    { act }: Changes,
    changes: Change[],
    versions: Map<string, number>,
  ): Promise<ChangeRow[]> {
    const living = changes.filter(({ deleted }) => deleted === undefined);
    const records = await readRecords(tx, living, { now: act.now, presentation: this.#presentation() });
    const actor = actorOf(act.actor);
    return changes.map((change) => {
      const key = keyOf(change.entity, change.id);
      const record = change.deleted === undefined ? records.get(key) : { text: change.deleted };
      if (!record) throw new Error(`the changed record ${change.entity} ${change.id} does not exist`);
      return {
        batch: 0,
        place: 0,
        at: act.now,
        entity: change.entity,
        entity_id: change.id,
        client_id: change.clientId,
        members: change.members ? arrayText(change.members) : null,
        version: versions.get(key) ?? 1,
        action: change.action,
        actor,
        request_id: act.requestId,
        data: record.text,
        ...tallied(change, record),
      };
    });
  }
}

/** What the reconciliation counts of a change. */
function tallied(change: Change, record: RecordText): Pick<ChangeRow, 'tally' | 'currency' | 'amount'> {
  const { currency = null, amount = null, kind } = record;
  const moved = change.movedTo === undefined ? null : `moved:${change.movedTo}`;
  const tally = kind ? `transaction:${kind}` : change.entity === 'payment' && change.created ? 'created' : moved;
  return tally === null ? { tally, currency: null, amount: null } : { tally, currency, amount };
}

/** `contact:ID`, `token:NAME`, `staff:NAME` or `system`. @param actor as the audit trail has it */
function actorOf(actor: string): string {
  if (actor.startsWith('service:')) return 'system';
  return actor.replace(/^operator:/, 'token:');
}

/** Identifiers as PostgreSQL's array text: nothing in them needs escaping. */
function arrayText(ids: readonly string[]): string {
  return `{${ids.map((id) => `"${id}"`).join(',')}}`;
}

/** Raises the versions of records that existed before. A record that the transaction creates has version 1, and no row. */
async function raiseVersions(tx: Transaction, changes: readonly Change[]): Promise<Map<string, number>> {
  const known = changes.filter(({ created }) => !created);
  if (known.length === 0) return new Map();
  const { rows } = await tx.query<{ entity: string; entity_id: string; version: number }>({
    name: 'change-versions',
    text: `insert into change_versions as v (entity, entity_id, version)
      select entity, entity_id, 2 from unnest($1::text[], $2::text[]) as u(entity, entity_id) order by entity, entity_id
      on conflict (entity, entity_id) do update set version = v.version + 1 returning entity, entity_id, version`,
    values: [known.map(({ entity }) => entity), known.map(({ id }) => id)],
  });
  return new Map(rows.map((row) => [keyOf(row.entity, row.entity_id), row.version]));
}

async function openBatch(tx: Transaction, changes: number, at: Date): Promise<number> {
  const { rows } = await tx.query<{ batch: number }>({
    name: 'change-batch',
    text: 'insert into changes_unpublished (changes, at) values ($1, $2) returning batch',
    values: [changes, at],
  });
  return (rows[0] as { batch: number }).batch;
}

async function write(tx: Transaction, batch: number, from: number, rows: ChangeRow[]): Promise<void> {
  for (const [index, row] of rows.entries()) {
    row.batch = batch;
    row.place = from + index;
  }
  if (rows.length >= MIN_COPIED_ROWS) return copyRows(tx, 'changes', COLUMNS as Columns<ChangeRow>, rows);
  const values = Object.keys(COLUMNS).map((column) => rows.map((row) => row[column as keyof ChangeRow]));
  await tx.query({ name: 'changes', text: INSERT, values });
}

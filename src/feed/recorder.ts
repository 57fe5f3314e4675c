import type { QueryConfig } from 'pg';
import {
  type Change,
  type Changes,
  changesOf,
  finishedSteps,
  forgetSteps,
  keyOf,
  type RecordText,
  takeChanges,
} from '../audit/change.ts';
import { cellOf, withinCell } from '../database/cells/connection.ts';
import { forgetChosen, isChosen } from '../database/cells/identifiers.ts';
import { hasSeveralCells } from '../database/cells/pool.ts';
import type { Cell } from '../database/cells/scope.ts';
import { type Transaction, type TransactionHooks, together } from '../database/database.ts';
import { type Kind, REMOVED_KINDS } from '../database/kinds.ts';
import type { Presentation } from '../payments/presentation.ts';
import { textArray } from '../values/text-array.ts';
import { Batch } from './batch.ts';
import { createLineWriter, type Line } from './line.ts';
import { placeAtCommit } from './publisher.ts';
import { readRecords } from './records.ts';

/** The most records that are read and written at once. They take some megabytes. */
const MAX_RECORDS_AT_ONCE = 1_000;

/** A line of a step that has ended, with the time of its change. */
interface FinishedLine extends Line {
  at: Date;
}

/** A step that has ended. */
interface FinishedStep {
  /** Where its records are. */
  cell: Cell;
  lines: Promise<FinishedLine[]>;
}

/**
 * Writes what a transaction has changed, as its last statements. First it raises the versions, which locks them until the commit, in one
 * order for everybody. Only then does it read the records and take the number of its batch. So a change shows everything that was committed
 * before it, and the batch numbers of two changes of one record are in the order of their versions. A record that the transaction knows
 * (`noteRecord`), or that a memory knows by its version, is not read again.
 */
export class ChangeRecorder implements TransactionHooks {
  readonly #presentation: () => Presentation;
  readonly #resets: boolean;

  /**
   * @param presentation called each time: the public address is final only once the client API listens
   * @param resets whether clients can be reset, so that an identifier may come again
   */
  constructor(presentation: () => Presentation, resets: boolean) {
    this.#presentation = presentation;
    this.#resets = resets;
  }

  beforeReading(tx: Transaction): void {
    const changes = changesOf(tx);
    if (!changes) return;
    tx.meanwhile(raiseVersions(tx, changes, this.#resets));
    sendRaises(tx);
  }

  async stepEnded(tx: Transaction): Promise<void> {
    const changes = takeChanges(tx);
    if (!changes) return;
    const lines = this.#stepLines(tx, changes);
    // It has its place now: the next step may end before the records of this one are read. The commit waits for them.
    finishedSteps<FinishedStep>(tx).push({ cell: cellOf(tx), lines });
    await lines;
  }

  async #stepLines(tx: Transaction, changes: Changes): Promise<FinishedLine[]> {
    const step: FinishedLine[] = [];
    for await (const lines of this.#lines(tx, changes))
      for (const line of lines) step.push({ ...line, at: changes.act.now });
    return step;
  }

  async beforeCommit(tx: Transaction): Promise<QueryConfig | undefined> {
    const own = numberOf(cellOf(tx));
    const elsewhere = finishedSteps<FinishedStep>(tx).some(({ cell }) => numberOf(cell) !== own);
    if (elsewhere || (own !== 0 && makesClients(tx))) return this.#placed(tx);
    const changes = takeChanges(tx);
    const lines = changes && this.#lines(tx, changes);
    const first = await lines?.next();
    const finished = await finishedLines(tx);
    const at = changes?.act.now ?? finished[0]?.at;
    if (!at) return undefined;
    const batch = new Batch(tx, at, finished.length + (changes?.records.size ?? 0));
    await batch.add(finished);
    if (first && !first.done) await batch.add(first.value);
    if (lines) for await (const part of lines) await batch.add(part);
    return batch.end();
  }

  /**
   * Writes and places changes of several cells, so that a reader sees them together; and new clients. Both are in the first cell: a contact,
   * which is there, may name a new client as soon as it is committed.
   */
  async #placed(tx: Transaction): Promise<undefined> {
    await this.stepEnded(tx);
    const finished = await finishedLines(tx);
    const at = finished[0]?.at;
    if (!at) return;
    const cells = new Set(finishedSteps<FinishedStep>(tx).map(({ cell }) => numberOf(cell)));
    await withinCell(tx, 0, async () => {
      const batch = new Batch(tx, at, finished.length);
      await batch.add(finished);
      await placeAtCommit(tx, await batch.endWithNumber(), cells, at);
    });
  }

  ended(tx: Transaction): void {
    takeChanges(tx);
    forgetSteps(tx);
    forgetChosen(tx);
  }

  /** The lines of a step. The records of a part are read together; each line is made when it is requested. */
  async *#lines(tx: Transaction, changes: Changes): AsyncGenerator<Iterable<Line>> {
    const { act, records, versions } = changes;
    const raised = together([raiseVersions(tx, changes, this.#resets), tx.earlier()]);
    const write = createLineWriter({ at: act.now, actor: actorOf(act.actor), requestId: act.requestId });
    const all = [...records.values()];
    for (let from = 0; from < all.length; from += MAX_RECORDS_AT_ONCE) {
      const part = all.slice(from, from + MAX_RECORDS_AT_ONCE);
      const versionOf = ({ entity, id }: Change) => versions.get(keyOf(entity, id)) ?? 1;
      // A memory is asked by version, so the versions must be known.
      if (part.some(({ memory }) => memory)) await raised;
      const texts = remembered(part, versionOf);
      const unknown = part.filter(
        ({ deleted, known, entity, id }) => deleted === undefined && !known && !texts.has(keyOf(entity, id)),
      );
      // The server raises the versions before it reads.
      if (unknown.length > 0) sendRaises(tx);
      const [, read] = await together([
        raised,
        readRecords(tx, unknown, { now: act.now, presentation: this.#presentation() }),
      ]);
      for (const change of unknown) {
        const record = read.get(keyOf(change.entity, change.id));
        if (!record) throw new Error(`the changed record ${change.entity} ${change.id} does not exist`);
        texts.set(keyOf(change.entity, change.id), record);
        change.memory?.keep(change.id, versionOf(change), record);
      }
      yield linesOf(part, (change) => {
        const { deleted, known, entity, id } = change;
        const record = deleted === undefined ? (known?.() ?? texts.get(keyOf(entity, id))) : { text: deleted };
        if (!record) throw new Error(`the changed record ${entity} ${id} was not read`);
        return write(change, versionOf(change), record);
      });
    }
  }
}

/** The records that the memories of some changes know, by the key of `keyOf`. */
function remembered(changes: readonly Change[], versionOf: (change: Change) => number): Map<string, RecordText> {
  const found = new Map<string, RecordText>();
  for (const change of changes) {
    const { entity, id, memory, known, deleted } = change;
    if (!memory || known || deleted !== undefined) continue;
    const record = memory.find(id, versionOf(change));
    if (record) found.set(keyOf(entity, id), record);
  }
  return found;
}

/** The lines of the steps that have ended, in their order. */
async function finishedLines(tx: Transaction): Promise<FinishedLine[]> {
  await tx.caughtUp();
  return (await Promise.all(finishedSteps<FinishedStep>(tx).map(({ lines }) => lines))).flat();
}

/** Whether a transaction makes a client. */
function makesClients(tx: Transaction): boolean {
  const records = changesOf(tx)?.records.values() ?? [];
  return [...records].some(({ entity, created }) => entity === 'client' && created);
}

/** The cell in which the changes of a step are. What belongs to no client is in the first one. */
function numberOf(cell: Cell): number {
  return cell === 'none' || cell === 'all' ? 0 : cell;
}

function* linesOf(changes: readonly Change[], write: (change: Change) => Line): Generator<Line> {
  for (const change of changes) yield write(change);
}

/** `contact:ID`, `token:NAME`, `staff:NAME` or `system`. @param actor in the form of the audit trail */
function actorOf(actor: string): string {
  if (actor.startsWith('service:')) return 'system';
  return actor.replace(/^operator:/, 'token:');
}

/** Lists cost a statement more than its rows do, and most transactions change one existing record, so there are two forms. */
const raised = (rows: string) =>
  `insert into change_versions as v (entity, entity_id, version) ${rows}
    on conflict (entity, entity_id) do update set version = v.version + 1 returning entity, entity_id, version`;

/** The steps of a transaction whose versions are still to be raised, and what tells that they are. */
const RAISES = new WeakMap<Transaction, { steps: Changes[]; resets: boolean; sent: PromiseWithResolvers<void> }>();

/** Kinds whose identifiers are made of others, so that they come again with them. */
const COMPOSED: readonly Kind[] = ['approval', 'approval_configuration'];

/**
 * Raises the versions of existing records. A record that the transaction creates has version 1, and no row, unless a reset has removed
 * another one with its identifier. Steps that end in the same turn of the event loop are raised together, unless something is to be read
 * before (`sendRaises`).
 */
function raiseVersions(tx: Transaction, changes: Changes, resets: boolean): Promise<void> {
  const waiting = RAISES.get(tx);
  if (waiting) {
    waiting.steps.push(changes);
    return waiting.sent.promise;
  }
  const sent = Promise.withResolvers<void>();
  RAISES.set(tx, { steps: [changes], resets, sent });
  // With several cells, the transaction may be in another cell by then.
  if (hasSeveralCells(tx)) sendRaises(tx);
  else queueMicrotask(() => sendRaises(tx));
  return sent.promise;
}

/** Sends the statements that raise versions, if any wait to be sent. */
function sendRaises(tx: Transaction): void {
  const waiting = RAISES.get(tx);
  if (!waiting) return;
  RAISES.delete(tx);
  const statements: Promise<void>[] = [];
  const again: Round = new Map();
  let round: Round = new Map();
  for (const { records, raised: asked, versions } of waiting.steps) {
    const fresh = [...records].filter(([key, { created }]) => !created && !asked.has(key));
    const made = waiting.resets ? [...records].filter(([key, each]) => !asked.has(key) && mayComeAgain(tx, each)) : [];
    for (const [key, change] of made) {
      asked.add(key);
      again.set(key, { change, versions });
    }
    // A record of two steps gets two versions.
    if (fresh.some(([key]) => round.has(key))) {
      statements.push(raiseTogether(tx, round));
      round = new Map();
    }
    for (const [key, change] of fresh) {
      asked.add(key);
      round.set(key, { change, versions });
    }
  }
  statements.push(raiseTogether(tx, round), raiseAgain(tx, again));
  together(statements).then(() => waiting.sent.resolve(), waiting.sent.reject);
}

/** Records whose versions are raised, by the key of `keyOf`, and where their new versions go. */
type Round = Map<string, { change: Change; versions: Map<string, number> }>;

function mayComeAgain(tx: Transaction, { created = false, entity, id }: Change): boolean {
  return created && REMOVED_KINDS.includes(entity) && (COMPOSED.includes(entity) || isChosen(tx, entity, id));
}

/** Goes on counting the versions of created records whose identifiers other records had before. */
async function raiseAgain(tx: Transaction, round: Readonly<Round>): Promise<void> {
  if (round.size === 0) return;
  const made = [...round.values()].map(({ change }) => change);
  const { rows } = await tx.query<VersionRow>({
    name: 'change-versions-again',
    text: `update change_versions v set version = v.version + 1
      from unnest($1::text[], $2::text[]) as u(entity, entity_id) where v.entity = u.entity and v.entity_id = u.entity_id
      returning v.entity, v.entity_id, v.version`,
    values: [textArray(made.map(({ entity }) => entity)), textArray(made.map(({ id }) => id))],
  });
  keep(round, rows);
}

interface VersionRow {
  [column: string]: unknown;
  entity: string;
  entity_id: string;
  version: number;
}

function keep(round: Readonly<Round>, rows: readonly VersionRow[]): void {
  for (const row of rows) {
    const key = keyOf(row.entity, row.entity_id);
    round.get(key)?.versions.set(key, row.version);
  }
}

async function raiseTogether(tx: Transaction, round: Readonly<Round>): Promise<void> {
  const [only, ...others] = round.values();
  if (!only) return;
  const old = [only, ...others].map(({ change }) => change);
  const { rows } = await tx.query<VersionRow>(
    others.length === 0
      ? { name: 'change-version', text: raised('values ($1, $2, 2)'), values: [only.change.entity, only.change.id] }
      : {
          name: 'change-versions',
          text: raised(
            'select entity, entity_id, 2 from unnest($1::text[], $2::text[]) as u(entity, entity_id) order by entity, entity_id',
          ),
          values: [textArray(old.map(({ entity }) => entity)), textArray(old.map(({ id }) => id))],
        },
  );
  keep(round, rows);
}

import type { Kind } from '../database/kinds.ts';
import type { Act } from './act.ts';

/** A record in the form that the change feed shows. */
export interface RecordText {
  /** JSON, in the form of the operator's GET. */
  text: string;
  /** What the reconciliation counts. */
  kind?: string;
  currency?: string;
  amount?: string;
}

/** Records that a caller has changed before. They are useful as long as nobody else changes them. */
export interface RecordMemory {
  /** A changed record with its new version; undefined if it must be read. */
  find(id: string, version: number): RecordText | undefined;
  /** Stores a record that was read, with its new version. */
  keep(id: string, version: number, record: RecordText): void;
}

/** A record that a transaction has changed. */
export interface Change {
  entity: Kind;
  /** The record's identifier. */
  id: string;
  /** The client that owns the record; null for contacts and applications. */
  clientId: string | null;
  /** `create`, `update`, `delete`, `import`, or the payment action. */
  action: string;
  /** Whether the transaction has created the record. */
  created?: boolean;
  /** The clients of a contact, before and after the change. */
  members?: string[];
  /** The status that a payment got. */
  movedTo?: string | undefined;
  /** The record before it was deleted, as JSON text. */
  deleted?: string;
  /** The reason of a person, for an approval. */
  reason?: string | undefined;
  /** Writes the record, if the code that changed it knows it. Then it is not read again. */
  known?: (() => RecordText) | undefined;
  /** A memory that may know the record by its version. */
  memory?: RecordMemory | undefined;
}

/** What a step of a transaction has changed so far, in the order of the first change of each record. */
export interface Changes {
  act: Act;
  records: Map<string, Change>;
  /** The records that are locked already, or whose lock was requested (`lockChanges` of database.ts). */
  raised: Set<string>;
  /** Their new versions, as far as the database has returned them. */
  versions: Map<string, number>;
}

const CHANGED = new WeakMap<object, Changes>();

/**
 * Notes that a transaction has changed a record. The feed shows each record once for each step, in its state at the end of the step. The
 * first note determines the place and the action. A transaction is a single step, unless `endStep` of database.ts divides it.
 * @param tx the transaction's connection
 */
export function noteChange(tx: object, act: Act, change: Change): void {
  let changes = CHANGED.get(tx);
  if (!changes) {
    changes = { act, records: new Map(), raised: new Set(), versions: new Map() };
    CHANGED.set(tx, changes);
  }
  const key = keyOf(change.entity, change.id);
  const known = changes.records.get(key);
  if (!known) changes.records.set(key, change);
  // A record that was removed and created again under the same identifier is the same record, and continues with its next version.
  else if (known.deleted !== undefined) changes.records.set(key, { ...change, created: false });
  else if (change.deleted !== undefined) changes.records.set(key, { ...change, created: known.created ?? false });
  else {
    if (!known.created) known.movedTo = change.movedTo ?? known.movedTo;
    // What was known about it before is outdated.
    known.known = change.known;
    // A memory knows only the changes that were noted with it.
    known.memory &&= change.memory;
  }
}

/**
 * States the current text of a changed record, so that it need not be read again for the feed. Use it only for a record that nobody else
 * can change before the commit: the transaction has created it, holds its only row, or has read it after `lockChanges`.
 */
export function noteRecord(tx: object, entity: Kind, id: string, known: () => RecordText): void {
  const change = CHANGED.get(tx)?.records.get(keyOf(entity, id));
  if (change && change.deleted === undefined) change.known = known;
}

/** What a step has changed so far. */
export function changesOf(tx: object): Changes | undefined {
  return CHANGED.get(tx);
}

/** Whether a step has changed a record already. */
export function hasChanged(tx: object, entity: Kind, id: string): boolean {
  return CHANGED.get(tx)?.records.has(keyOf(entity, id)) ?? false;
}

/** The key of a record among those of all entities. */
export function keyOf(entity: string, id: string): string {
  return `${entity}\0${id}`;
}

/** Takes what the transaction has changed since its last step. Nobody gets it a second time. */
export function takeChanges(tx: object): Changes | undefined {
  const changes = CHANGED.get(tx);
  CHANGED.delete(tx);
  return changes;
}

/** What a transaction's earlier steps have left to be written at the commit. */
const FINISHED = new WeakMap<object, object[]>();

/** What the earlier steps of a transaction have left. The code that ends a step adds to it. @returns the same list until `forgetSteps` */
export function finishedSteps<T extends object>(tx: object): T[] {
  const finished = FINISHED.get(tx) ?? [];
  FINISHED.set(tx, finished);
  return finished as T[];
}

/** Whether a transaction has noted anything that is not written yet. */
export function hasNotes(tx: object): boolean {
  return CHANGED.has(tx) || (FINISHED.get(tx)?.length ?? 0) > 0;
}

/** Forgets the steps of a transaction that has ended. */
export function forgetSteps(tx: object): void {
  FINISHED.delete(tx);
}

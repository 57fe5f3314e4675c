import { savepoint, type Transaction } from '../database/database.ts';
import { type Changes, changesOf, finishedSteps, noteChange, takeChanges } from './change.ts';

/** Runs a part of a transaction. If it throws, only this part is undone, and its notes are dropped. */
export async function attempt(tx: Transaction, work: () => Promise<void>): Promise<void> {
  const before = takeChanges(tx);
  const steps = finishedSteps(tx).length;
  let after: Changes | undefined;
  try {
    await savepoint(tx, work);
    after = takeChanges(tx);
  } catch (error) {
    finishedSteps(tx).splice(steps);
    throw error;
  } finally {
    takeChanges(tx);
    for (const { act, records, versions } of [before, after].filter((changes) => changes !== undefined)) {
      for (const change of records.values()) noteChange(tx, act, change);
      for (const [key, version] of versions) {
        changesOf(tx)?.versions.set(key, version);
        changesOf(tx)?.raised.add(key);
      }
    }
  }
}

import type { Act } from '../context.ts';
import type { Vault } from '../crypto.ts';
import type { Transaction } from '../database.ts';
import { type Fault, Problem } from '../errors.ts';
import type { Presentation } from '../payments/presentation.ts';

/** What all lines of an import share. */
export interface ImportScope {
  act: Act;
  vault: Vault;
  presentation: Presentation;
  /** Whether the records cause the notifications that single calls would. */
  notify: boolean;
}

/** A record that was read, and the number of its line. */
export interface Numbered<Row> {
  line: number;
  row: Row;
}

/** Lines that cannot go in, each with its reason; the first reason found stays. */
export class Refusals extends Map<number, Problem> {
  refuse(line: number, code: Problem['code'], fault: Fault): void {
    if (!this.has(line)) this.set(line, new Problem(code, fault));
  }
}

/**
 * How the records of one kind go in, a batch of lines at a time. `given` has the shape of the single call's body, which the
 * caller has checked; everything else that the single call checks is checked here, for all lines of a batch at once.
 */
export interface ImportKind<Given, Row> {
  /** The entity's noun in the audit trail. */
  entity: string;
  /** Lines of one batch: one transaction. */
  batchLines: number;
  /** Reads one record. @throws Problem */
  read(given: Given, scope: ImportScope): Row;
  /** Work that does not belong into a transaction. */
  prepare?(rows: Numbered<Row>[], scope: ImportScope): Promise<Refusals>;
  /** Finds the lines that cannot go in, and completes the others (made identifiers, names). */
  check(tx: Transaction, rows: Numbered<Row>[], scope: ImportScope): Promise<Refusals>;
  /** Writes rows that `check` let through. */
  insert(tx: Transaction, rows: Numbered<Row>[], scope: ImportScope): Promise<void>;
}

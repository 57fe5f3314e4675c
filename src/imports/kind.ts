import type { Act } from '../audit/act.ts';
import type { RecordText } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import type { ClaimedField, Kind } from '../database/kinds.ts';
import type { TradeMemory } from '../exchange/trade-memory.ts';
import type { Presentation } from '../payments/presentation.ts';
import type { Vault } from '../values/crypto.ts';
import { type Fault, Problem } from '../values/errors.ts';

/** What all lines of an import share. */
export interface ImportScope {
  act: Act;
  vault: Vault;
  presentation: Presentation;
  /** Whether the records cause the same notifications as single calls. */
  notify: boolean;
  /** Whether the import ends at the first refused line: earlier lines are imported, later ones are not. */
  stop?: boolean;
  /** The trades that earlier batches have changed. */
  trades?: TradeMemory;
}

/** A record that has been read from a line. */
export interface ImportRow<Input> {
  /** Number of its line, from 1. */
  line: number;
  input: Input;
  /** The record's identifier: the caller's, or one from `resolveIds`. */
  id: string | undefined;
  /** Why the line cannot create a record; it can only change one. */
  lacks?: Problem | undefined;
}

/** Refused lines with their reasons. The first reason that is found stays. */
export class Refusals extends Map<number, Problem> {
  refuse(line: number, code: Problem['code'], fault: Fault): void {
    if (!this.has(line)) this.set(line, new Problem(code, fault));
  }

  /** Refuses the lines of rows, by the index of each row. */
  refuseRows(rows: readonly ImportRow<unknown>[], refused: ReadonlyMap<number, Problem>): this {
    for (const [index, { line }] of rows.entries()) {
      const problem = refused.get(index);
      if (problem && !this.has(line)) this.set(line, problem);
    }
    return this;
  }

  /** The first refused line; Infinity if there is none. */
  get first(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const line of this.keys()) if (line < least) least = line;
    return least;
  }
}

/** An identifier in a line that must be unique over all cells. */
export interface ClaimOf<Row> {
  field: ClaimedField;
  /** Undefined if the line claims none. */
  id(row: Row): string | undefined;
}

/** Returns a function that writes the record of a row in the form of the operator's GET; undefined if the record must be read. */
export type RecordOf<Row> = (row: Row) => (() => RecordText) | undefined;

/**
 * How the records of one kind are imported, a batch of lines at a time. The caller has checked that the input has the shape of the single
 * call's body. The kind makes all other checks of the single call, for all lines of a batch at once.
 */
export interface ImportKind<Input, Row extends ImportRow<Input>> {
  /** The entity's noun in the audit trail and the change feed. */
  entity: Kind;
  /** The number of lines in a batch, which is one transaction. */
  batchRows: number;
  /** Reads one record. @throws Problem */
  read(line: number, input: Input, scope: ImportScope): Row;
  /** Whether a batch is written as a whole: no line can fail in a way that `check` does not foresee, and its steps are not undone individually. */
  whole?: boolean;
  /** The identifiers that must be unique over all cells. */
  claims?: ClaimOf<Row>[];
  /** How lines are compared with the records that they name. Without it, no line can name an existing record. */
  comparison?: Comparison;
  /** How stored records are changed, like PATCH does. Without it, they cannot be changed. */
  update?: ImportUpdate<Input, Row>;
  /** Work that does not belong in a transaction. */
  prepare?(rows: Row[]): Promise<Refusals>;
  /** Finds the lines to refuse, and completes the others (identifiers, names). For a kind of actions, it performs them. */
  check(tx: Transaction, rows: Row[], scope: ImportScope): Promise<Refusals>;
  /** Writes the rows that `check` let through. */
  insert(tx: Transaction, rows: Row[], scope: ImportScope): Promise<void>;
  /** Makes the function that writes the records for the change feed. Without it, they are read again. */
  records?(scope: ImportScope): RecordOf<Row>;
}

/** How lines change stored records. */
export interface ImportUpdate<Input, Row extends ImportRow<Input>> {
  /** Fields that PATCH does not change. */
  fixed: readonly string[];
  /** Reads a line that lacks what a new record needs; by default like any other line. */
  read?(line: number, input: Input): Row;
  /** Changes the records by the lines that differ from them. @throws Problem, possibly after some changes */
  write(tx: Transaction, rows: Row[], scope: ImportScope): Promise<void>;
}

/** How the stored records of a kind are compared with lines that name them. */
export interface Comparison {
  table: string;
  /** The column of the identifier. */
  id: string;
  /** The stored value of each field: a column, or an expression, of the table `t`. */
  fields: Record<string, string>;
  /** Converts a given or stored value to a form in which equal values are the same. Without one, values are compared directly. */
  forms?: Record<string, (value: unknown, vault: Vault) => unknown>;
  /** Fields for which null means that the service chooses. */
  chosen?: string[];
  /** Whether a value equals the stored one, if its form cannot be compared, as for a password. */
  matches?: Record<string, (given: unknown, stored: unknown) => Promise<boolean>>;
}

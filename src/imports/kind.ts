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
  /** Whether the records cause the notifications that single calls would. */
  notify: boolean;
  /** Ends at the first line that is refused: the lines before it are imported, and nothing after it. */
  stop?: boolean;
  /** What the batches before have made of trades. */
  trades?: TradeMemory;
}

/** A record that has been read. */
export interface ImportRow<Input> {
  /** Number of its line, from 1. */
  line: number;
  input: Input;
  /** The record's identifier: the caller's, or one that `resolveIds` makes. */
  id: string | undefined;
  /** Why no record can be created of it: it only says what is to change. */
  lacks?: Problem | undefined;
}

/** Lines that are refused, each with its reason; the first reason found stays. */
export class Refusals extends Map<number, Problem> {
  refuse(line: number, code: Problem['code'], fault: Fault): void {
    if (!this.has(line)) this.set(line, new Problem(code, fault));
  }

  /** Refuses the lines of rows by the index of each. */
  refuseRows(rows: readonly ImportRow<unknown>[], refused: ReadonlyMap<number, Problem>): this {
    for (const [index, { line }] of rows.entries()) {
      const problem = refused.get(index);
      if (problem && !this.has(line)) this.set(line, problem);
    }
    return this;
  }

  /** The first line that is refused; Infinity where none is. */
  get first(): number {
    let least = Number.POSITIVE_INFINITY;
    for (const line of this.keys()) if (line < least) least = line;
    return least;
  }
}

/** An identifier of a line that must be unique over all cells. */
export interface ClaimOf<Row> {
  field: ClaimedField;
  /** Undefined where the line claims none. */
  id(row: Row): string | undefined;
}

/** What writes the record of a row as the operator's GET shows it; undefined where it has to be read. */
export type RecordOf<Row> = (row: Row) => (() => RecordText) | undefined;

/**
 * How the records of one kind are imported, a batch of lines at a time. The caller has checked that the input has the shape of the
 * single call's body. The kind checks everything else that the single call checks, for all lines of a batch at once.
 */
export interface ImportKind<Input, Row extends ImportRow<Input>> {
  /** The entity's noun in the audit trail and the change feed. */
  entity: Kind;
  /** Lines of one batch, which is one transaction. */
  batchRows: number;
  /** Reads one record. @throws Problem */
  read(line: number, input: Input, scope: ImportScope): Row;
  /** A batch goes in as a whole: no line of it can meet what `check` does not foresee, and its steps are not undone one by one. */
  whole?: boolean;
  /** The identifiers that must be unique over all cells. */
  claims?: ClaimOf<Row>[];
  /** How lines are compared with the records that they name; without it no line names one. */
  comparison?: Comparison;
  /** How stored records are changed, as PATCH does; without it they are not. */
  update?: ImportUpdate<Input, Row>;
  /** Work that does not belong inside a transaction. */
  prepare?(rows: Row[]): Promise<Refusals>;
  /** Finds the lines to refuse, and completes the others (identifiers, names). Actions take place in it. */
  check(tx: Transaction, rows: Row[], scope: ImportScope): Promise<Refusals>;
  /** Writes the rows that `check` let through. */
  insert(tx: Transaction, rows: Row[], scope: ImportScope): Promise<void>;
  /** Makes the writer of the records for the change feed; without it they are read again. */
  records?(scope: ImportScope): RecordOf<Row>;
}

/** How lines change stored records. */
export interface ImportUpdate<Input, Row extends ImportRow<Input>> {
  /** Fields that PATCH does not change. */
  fixed: readonly string[];
  /** Reads a line that lacks what a new record needs. Default: as any other. */
  read?(line: number, input: Input): Row;
  /** Changes the records by the lines that differ from them. @throws Problem, in the middle of it */
  write(tx: Transaction, rows: Row[], scope: ImportScope): Promise<void>;
}

/** How the stored records of a kind are compared with lines that name them. */
export interface Comparison {
  table: string;
  /** The column of the identifier. */
  id: string;
  /** What is stored for each field of a line: a column, or an expression, of the table `t`. */
  fields: Record<string, string>;
  /** A given or a stored value in the form in which equal ones are the same; without one, values are compared as they are. */
  forms?: Record<string, (value: unknown, vault: Vault) => unknown>;
  /** Fields for which null means that the service chooses. */
  chosen?: string[];
  /** Whether a value that cannot be compared by its form is the stored one, as a password. */
  matches?: Record<string, (given: unknown, stored: unknown) => Promise<boolean>>;
}

import type pg from 'pg';
import { worksInFurtherCell } from './cells/connection.ts';
import { ONCE_TABLES } from './cells/tables.ts';
import { type AskedClient, type Statement, textOf } from './pooled-client.ts';

/**
 * A statement that changes no row, on a table of the coordinator that Citus knows. It makes Citus commit the transaction in two phases: the
 * workers commit only if the coordinator does.
 */
const AGREE = 'delete from two_phase where n = 0';

const BEGIN = /^\s*begin\b/i;
const WRITTEN = /\b(?:insert into|update|delete from)\s+(?:"?\w+"?\.)?"?(\w+)/gi;

/** Whether a statement of the program's own writes what exists once. */
function writesOnce(text: string): boolean {
  for (const [, table = ''] of text.matchAll(WRITTEN)) if (ONCE_TABLES.has(table)) return true;
  return false;
}

/**
 * A connection of a database whose further cells are on Citus workers. What exists once is local to the coordinator, and Citus ignores it.
 * If a transaction changed both, it would be committed on the worker first. A crash could then keep a payment without the answer under its
 * Idempotency-Key. Such a transaction is committed in two phases. One that changes only a cell, as most do, is not.
 */
export function agreeing(Client: typeof AskedClient): typeof AskedClient {
  return class extends Client {
    #once = false;

    get #writesBoth(): boolean {
      return this.#once && worksInFurtherCell(this);
    }

    override commitAfter(statement: pg.QueryConfig): Promise<void> {
      this.#once ||= writesOnce(statement.text);
      return this.#writesBoth ? this.commitSeparately(statement) : super.commitAfter(statement);
    }

    protected override ask(statement: Statement, ...others: unknown[]): unknown {
      const text = textOf(statement);
      if (text === 'commit' && this.#writesBoth) {
        this.#once = false;
        return Promise.resolve(super.ask(AGREE)).then(() => super.ask(statement, ...others));
      }
      this.#once = !BEGIN.test(text) && (this.#once || writesOnce(text));
      return super.ask(statement, ...others);
    }
  };
}

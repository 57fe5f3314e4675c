import type pg from 'pg';
import { localPathOf } from './cells/connection.ts';
import { DatabaseClient } from './client.ts';
import { silence } from './fault.ts';

/** A statement in any form that `query` accepts: its text, its parts, or an object that submits itself. */
export type Statement = string | { text?: string; name?: string; submit?: unknown };

/** The text of a statement; empty if it has none. */
export function textOf(statement: Statement): string {
  return typeof statement === 'string' ? statement : (statement.text ?? '');
}

/** A connection whose subclasses change how statements are run. */
export class AskedClient extends DatabaseClient {
  // One function for all overloads of pg. It passes its arguments on.
  override query(...[statement, ...others]: [never, ...never[]]): never {
    return this.ask(statement, ...others) as never;
  }

  /** Runs `query`. @returns what pg returns: a promise, or nothing if a callback or a stream takes the answer */
  protected ask(statement: Statement, ...others: unknown[]): unknown {
    return Reflect.apply(super.query, this, [statement, ...others]);
  }
}

/** A connection that prepares no statement by name, because the next transaction may run on another connection of the server. */
export class NamelessClient extends AskedClient {
  protected override ask(statement: Statement, ...others: unknown[]): unknown {
    const named =
      typeof statement === 'object' && 'text' in statement && 'name' in statement && !('submit' in statement);
    return super.ask(named ? { ...statement, name: undefined } : statement, ...others);
  }

  /** Sends two separate statements, because a pooler only passes on messages that it knows. */
  override commitAfter(statement: pg.QueryConfig): Promise<void> {
    return this.commitSeparately(statement);
  }
}

const BEGIN = /^\s*(begin|start transaction)\b/i;
const END = /^\s*(commit|end|abort|rollback(?!\s+(work\s+|transaction\s+)?to\b))\b/i;

/**
 * A connection of a database with several cells, through a pooler in transaction mode. It does not own its session. So each transaction
 * sets the path of its cell. A statement outside a transaction gets one of its own, which costs two more round trips. The first cell needs
 * none of this, because every session has its path.
 */
export class PathClient extends NamelessClient {
  #inTransaction = false;

  protected override ask(statement: Statement, ...others: unknown[]): unknown {
    const text = textOf(statement);
    if (END.test(text)) this.#inTransaction = false;
    const path = this.#inTransaction ? '' : localPathOf(this);
    if (BEGIN.test(text)) {
      this.#inTransaction = true;
      return super.ask(path === '' ? text : `${text}; ${path}`, ...others);
    }
    if (path === '' || END.test(text) || (typeof statement === 'object' && 'submit' in statement))
      return super.ask(statement, ...others);
    const callback = others.at(-1);
    if (typeof callback !== 'function') return this.#alone(path, statement, others);
    this.#alone(path, statement, others.slice(0, -1)).then(
      (result) => callback(undefined, result),
      (error) => callback(error),
    );
    return undefined;
  }

  /** Runs one statement in a transaction of its own. */
  async #alone(path: string, statement: Statement, values: unknown[]): Promise<unknown> {
    await super.ask(`begin; ${path}`);
    try {
      const result = await super.ask(statement, ...values);
      await super.ask('commit');
      return result;
    } catch (error) {
      // A server that did not answer in time will not answer a rollback either. The pool closes the connection.
      if (!silence(error)) await Promise.resolve(super.ask('rollback')).catch(() => undefined);
      throw error;
    }
  }
}

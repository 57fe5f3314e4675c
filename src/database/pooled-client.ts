import type pg from 'pg';
import { localPathOf } from './cells/connection.ts';
import { DatabaseClient } from './client.ts';
import { silence } from './fault.ts';

/** A connection that prepares no statement by name. The next transaction may run on another connection of the server. */
export class NamelessClient extends DatabaseClient {
  override query(...[config, ...others]: never[]): never {
    const given: unknown = config;
    if (typeof given === 'object' && given !== null && 'text' in given && 'name' in given && !('submit' in given))
      return super.query({ ...given, name: undefined } as never, ...others) as never;
    return super.query(config as never, ...others) as never;
  }

  /** As two statements: a pooler passes on what it knows. */
  override commitAfter(statement: pg.QueryConfig): Promise<void> {
    return this.commitSeparately(statement);
  }
}

const BEGIN = /^\s*(begin|start transaction)\b/i;
const END = /^\s*(commit|end|abort|rollback(?!\s+(work\s+|transaction\s+)?to\b))\b/i;

type Callback = (error: Error | undefined, result?: unknown) => void;

/**
 * A connection of a database with several cells, through a pooler in transaction mode. Its session is not ours: each transaction sets the
 * path of its cell, and a statement outside of one gets a transaction of its own, which costs two round trips more. Nothing of this
 * concerns the first cell, whose path is that of every session.
 */
export class PathClient extends NamelessClient {
  #inTransaction = false;

  override query(...[config, ...others]: [never, ...never[]]): never {
    const given = config as string | { text?: string; submit?: unknown; callback?: Callback };
    const text = typeof given === 'string' ? given : (given.text ?? '');
    if (END.test(text)) this.#inTransaction = false;
    const path = this.#inTransaction ? '' : localPathOf(this);
    if (BEGIN.test(text)) {
      this.#inTransaction = true;
      return super.query((path === '' ? text : `${text}; ${path}`) as never, ...others) as never;
    }
    if (path === '' || END.test(text) || (typeof given === 'object' && 'submit' in given))
      return super.query(config, ...others) as never;
    const last: unknown = others.at(-1);
    const callback = typeof last === 'function' ? (last as Callback) : undefined;
    const alone = this.#alone(path, config, (callback ? others.slice(0, -1) : others) as never[]);
    if (!callback) return alone as never;
    alone.then((result) => callback(undefined, result), callback);
    return undefined as never;
  }

  /** Runs one statement in a transaction of its own. */
  async #alone(path: string, config: never, values: never[]): Promise<unknown> {
    await super.query(`begin; ${path}` as never);
    try {
      const result = await (super.query(config, ...values) as Promise<unknown>);
      await super.query('commit' as never);
      return result;
    } catch (error) {
      // A server that did not answer in time will not answer a rollback either: the pool closes the connection.
      if (!silence(error)) await (super.query('rollback' as never) as Promise<unknown>).catch(() => undefined);
      throw error;
    }
  }
}

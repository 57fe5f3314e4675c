import pg from 'pg';
import { fieldsOf } from '../../values/unknown.ts';
import type { Tracing } from '../tracing.ts';

/**
 * Makes a span for every SQL statement of a request, a delivery or a statement that is sent. The span has the SQL text but never a value.
 * @returns a function that stops it
 */
export function traceStatements(tracing: Tracing): () => void {
  const { prototype } = pg.Client;
  const original = prototype.query;
  // The arguments are passed on unchanged, whichever form of `query` is called.
  function query(this: pg.Client, ...args: unknown[]): unknown {
    const statement = tracing.current() === null ? undefined : described(args[0]);
    if (!statement) return Reflect.apply(original, this, args);
    const span = tracing.begin(statement.name, {
      kind: 'client',
      attributes: { 'db.system.name': 'postgresql', 'db.query.text': statement.text },
    });
    const ended = (error?: Error | null) => span.end({}, error?.message);
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const called = (error: Error | null, result: unknown) => {
        ended(error);
        callback(error, result);
      };
      return Reflect.apply(original, this, [...args.slice(0, -1), called]);
    }
    const result: Promise<unknown> = Reflect.apply(original, this, args);
    result.then(() => ended(), ended);
    return result;
  }
  Object.assign(prototype, { query });
  return () => {
    prototype.query = original;
  };
}

/** Name and text of an SQL statement; undefined for a stream, which reports its own end. */
function described(query: unknown): { name: string; text: string } | undefined {
  if (typeof query === 'string') return { name: firstWord(query), text: query };
  const { text, name, submit } = fieldsOf(query);
  const streams = typeof submit === 'function' && !(query instanceof pg.Query);
  if (typeof text !== 'string' || streams) return undefined;
  return { name: typeof name === 'string' ? name : firstWord(text), text };
}

function firstWord(text: string): string {
  return /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? 'statement';
}

import pg from 'pg';
import type { Tracing } from '../tracing.ts';

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

/**
 * Makes a span of every SQL statement of a request, a delivery or a statement that is sent. The text goes with it, never a value.
 * @returns ends it
 */
export function traceStatements(tracing: Tracing): () => void {
  // One type for all overloads: the arguments are passed on unchanged.
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function (this: pg.Client, ...args: unknown[]): unknown {
    const statement = tracing.current() === null ? undefined : described(args[0]);
    if (!statement) return original.apply(this, args);
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
      return original.apply(this, [...args.slice(0, -1), called]);
    }
    const result = original.apply(this, args) as Promise<unknown>;
    result.then(() => ended(), ended);
    return result;
  };
  return () => {
    prototype.query = original;
  };
}

/** Name and text of a statement; undefined for a stream, which tells itself when it ends. */
function described(query: unknown): { name: string; text: string } | undefined {
  if (typeof query === 'string') return { name: firstWord(query), text: query };
  const { text, name, submit } = (query ?? {}) as { text?: unknown; name?: string; submit?: unknown };
  const streams = typeof submit === 'function' && !(query instanceof pg.Query);
  if (typeof text !== 'string' || streams) return undefined;
  return { name: name ?? firstWord(text), text };
}

function firstWord(text: string): string {
  return /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? 'statement';
}

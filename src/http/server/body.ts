import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';
import { readForm } from '../../values/form.ts';
import { jsonFault, parseJson, TooManyValues } from '../../values/json.ts';
import { refusedTexts } from '../schemas/order-body.ts';
import { takeBytes } from './keyed.ts';

/** The largest body. Imports are streams and have no limit (docs/decisions.md, 1). */
export const MAX_BODY_BYTES = 1_048_576;

/** Reads bodies as JSON in UTF-8. Their numbers keep their digits (json.ts), and texts that cannot be stored are refused (text.ts). */
export function readJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    takeBytes(request, body);
    const refuse = (fault: Problem) => {
      if (!request.keyed) return done(fault);
      request.bodyFault = fault;
      done(null, undefined);
    };
    try {
      const value = body.length === 0 ? undefined : parseJson(utf8(body));
      // UTF-8 itself cannot contain such a text; it can only be written as an escape.
      const refusal = body.includes('\\u') ? refusedTexts(request.routeOptions.schema?.body, value) : undefined;
      if (refusal) refuse(refusal);
      else done(null, value);
    } catch (error) {
      refuse(new Problem('invalid_body', `body: ${unreadable(error)}`));
    }
  });
}

function unreadable(error: unknown): string {
  if (error instanceof TooManyValues) return error.message;
  // The reviver goes into each object and list, until the call stack is full.
  if (error instanceof RangeError) return 'is nested too deep';
  return `is not valid JSON in UTF-8 (${jsonFault(error)})`;
}

function utf8(body: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body);
}

/** Allows an operation's body to be left out (as `preValidation`): it then becomes an empty object. */
export function allowNoBody(request: FastifyRequest, _reply: unknown, done: () => void): void {
  if (request.body === undefined) request.body = {};
  done();
}

/** Parses a query. A parameter that is sent twice becomes a list, which only list parameters accept (validation.ts). */
export function parseQuery(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of readForm(text)) {
    const known = query[name];
    if (known === undefined) query[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else query[name] = [known, value];
  }
  return query;
}

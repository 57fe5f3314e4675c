import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';
import { takeBytes } from '../server/keyed.ts';

/** CSV bodies, for operations whose schema describes the same data as JSON. */

/** How the description shows such a body next to the JSON. */
export const DESCRIBED_CSV = {
  'text/csv': {
    schema: { type: 'string', description: 'RFC 4180, UTF-8, with a header row of the names of the fields of a row' },
  },
};

/** A CSV body. */
class CsvBody {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const CSVS = new WeakMap<FastifyRequest, string>();

/**
 * Sets a CSV aside, as the `preValidation` of an operation.
 * @param checked what replaces it while the JSON schema is checked
 */
export function holdCsv(checked: object): (request: FastifyRequest, reply: unknown, done: () => void) => void {
  return (request, _reply, done) => {
    if (request.body instanceof CsvBody) {
      CSVS.set(request, request.body.text);
      request.body = structuredClone(checked);
    }
    done();
  };
}

/** The CSV of a request; undefined if its body is JSON. */
export function csvOf(request: FastifyRequest): string | undefined {
  return CSVS.get(request);
}

/** Accepts `text/csv` in UTF-8. */
export function readCsvBodies(app: FastifyInstance): void {
  app.addContentTypeParser<Buffer>('text/csv', { parseAs: 'buffer' }, (request, body, done) => {
    takeBytes(request, body);
    const refuse = (message: string) => {
      const fault = new Problem('invalid_body', `body: ${message}`);
      if (!request.keyed) return done(fault);
      request.bodyFault = fault;
      done(null, undefined);
    };
    try {
      const decoded = new TextDecoder('utf-8', { fatal: true }).decode(body);
      if (decoded.includes('\0')) refuse('must have no NUL characters');
      else done(null, new CsvBody(decoded));
    } catch {
      refuse('must be UTF-8');
    }
  });
}

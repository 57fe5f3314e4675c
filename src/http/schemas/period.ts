import { Type } from 'typebox';
import { parseEnd, parseInstant, parseStart } from '../../values/calendar.ts';
import { type ErrorCode, Problem } from '../../values/errors.ts';
import { InstantOrDay } from '../../values/schemas.ts';

const WORDS = 'an instant (ISO 8601 with an offset), or a day (YYYY-MM-DD, in UTC)';

/** The parameters of a list that can be limited to a period. @param what happens within it, such as `Created` */
export const periodQuery = (what: string) => ({
  from: Type.Optional(InstantOrDay(`${what} from then on: ${WORDS}`)),
  to: Type.Optional(InstantOrDay(`${what} before then, or up to the end of a day: ${WORDS}`)),
});

/** A period in the form of a query. */
export interface PeriodText {
  from?: string;
  to?: string;
}

/** A period of time. An undefined end is open. */
export interface Period {
  from: Date | undefined;
  /** Exclusive. */
  to: Date | undefined;
}

/** The period that a query asks for. It includes all of a day that it names. @throws Problem invalid_parameter */
export function periodOf({ from, to }: PeriodText): Period {
  return { from: end('from', from, parseStart), to: end('to', to, parseEnd) };
}

function end(field: string, text: string | undefined, parse: (text: string) => Date | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const instant = parse(text);
  if (instant) return instant;
  throw new Problem('invalid_parameter', {
    field,
    message: 'must be an ISO 8601 timestamp with an offset, such as 2026-07-01T10:15:00Z, or a day, such as 2026-07-01',
  });
}

/**
 * Reads an instant from a caller.
 * @param field its name, for the refusal
 * @throws Problem with `code`
 */
export function requiredInstant(text: string, field: string, code: ErrorCode = 'invalid_parameter'): Date {
  const instant = parseInstant(text);
  if (instant) return instant;
  throw new Problem(code, {
    field,
    message: 'must be an ISO 8601 timestamp with an offset, such as 2026-07-01T10:15:00Z',
  });
}

/** Like `requiredInstant`; undefined if the caller left it out. */
export function optionalInstant(text: string | undefined, field: string, code?: ErrorCode): Date | undefined {
  return text === undefined ? undefined : requiredInstant(text, field, code);
}

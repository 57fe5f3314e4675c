import { Type } from 'typebox';
import { parseInstant } from '../../values/calendar.ts';
import { formed } from '../../values/schemas.ts';

/** Characters of a date-time; none needs so many. */
const MAX_LENGTH = 40;

/** A date-time that clients may write without an offset: then it is UTC. */
export const DateTime = (description: string) =>
  Type.String({
    maxLength: MAX_LENGTH,
    description: `${description}; ISO 8601, in UTC without an offset`,
    examples: ['2026-07-01T00:00:00Z'],
    ...formed({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'string' }] }),
  });

/** What a caller is told of a text that is none. */
export const A_DATE_TIME = 'must be an ISO 8601 date-time, such as 2026-07-01T10:15:00Z';

/** @returns undefined where a text is none */
export function parseDateTime(text: string): Date | undefined {
  return parseInstant(text) ?? parseInstant(`${text}Z`);
}

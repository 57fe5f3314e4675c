import { Type } from 'typebox';
import { parseInstant } from '../../values/calendar.ts';
import { formed } from '../../values/schemas.ts';

/** The most characters of a date-time. None needs more. */
const MAX_LENGTH = 40;

/** A date-time that clients may write without an offset, which then means UTC. */
export const DateTime = (description: string) =>
  Type.String({
    maxLength: MAX_LENGTH,
    description: `${description}; ISO 8601, in UTC without an offset`,
    examples: ['2026-07-01T00:00:00Z'],
    ...formed({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'string' }] }),
  });

/** What a refusal says about a text that is not a date-time. */
export const A_DATE_TIME = 'must be an ISO 8601 date-time, such as 2026-07-01T10:15:00Z';

/** @returns undefined if the text is not a date-time */
export function parseDateTime(text: string): Date | undefined {
  return parseInstant(text) ?? parseInstant(`${text}Z`);
}

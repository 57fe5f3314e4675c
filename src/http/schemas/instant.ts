import { parseInstant } from '../../values/calendar.ts';
import { type ErrorCode, Problem } from '../../values/errors.ts';

/**
 * An instant that a caller wrote.
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

/** As `requiredInstant`; undefined if the caller left it out. */
export function optionalInstant(text: string | undefined, field: string, code?: ErrorCode): Date | undefined {
  return text === undefined ? undefined : requiredInstant(text, field, code);
}

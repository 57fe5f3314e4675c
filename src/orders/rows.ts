import { type ErrorCode, FAULTS, type FaultCode, MESSAGES, type Problem } from '../values/errors.ts';
import { fieldsOf } from '../values/unknown.ts';

/** What all orders of many rows have in common. */

/** The most rows of one order. */
export const MAX_ROWS = 5_000;
/** The most fields of a row for the comparison by meaning. A row with more fields is compared as it was sent. */
const MAX_FIELDS = 256;
/** The most unknown fields that are reported for one row. */
export const MAX_UNKNOWN_FIELDS = 10;

/** What is wrong with a row. */
export interface RowFault {
  code: FaultCode | ErrorCode;
  /** The field; empty if the fault concerns the row as a whole. */
  field: string;
  message: string;
}

/** The fault of a row that equals an earlier one. */
export const DUPLICATE_ROW: RowFault = {
  ...{ field: '', code: 'duplicate_row', message: 'an earlier row of the file is the same' },
};

/** A refusal as the fault of a row. */
export function faultOf({ code, fault, details }: Problem): RowFault {
  return { code, field: fault?.field ?? '', message: fault?.message ?? details };
}

/** Which rows equal an earlier one. @param rows each as a text that is the same for equal rows (`sameness`) */
export function repeated(rows: readonly string[]): boolean[] {
  const seen = new Set<string>();
  return rows.map((row) => {
    const known = seen.has(row);
    seen.add(row);
    return known;
  });
}

/**
 * A text that is the same for equal rows. The order of fields, nulls and the notation of numbers make no difference.
 * @param sent the row
 * @param read the fields of it that were read, which replace what was sent
 * @param also further values by which rows differ
 */
export function sameness(
  sent: unknown,
  read: Readonly<Record<string, unknown>> = {},
  also: readonly unknown[] = [],
): string {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return JSON.stringify(['', sent, ...also]);
  const given = Object.entries(fieldsOf(sent)).filter(([, value]) => value !== null);
  if (given.length > MAX_FIELDS) return JSON.stringify([given, ...also]);
  const plain = given.map(([field, value]) => [field, Object.hasOwn(read, field) ? read[field] : value]);
  return JSON.stringify([plain.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)), ...also]);
}

/** A fault of a row in the form of an answer. */
export interface AnsweredFault {
  code: string;
  message: string;
  details: string;
}

/** Faults in the form of an answer. */
export function answered(faults: readonly RowFault[]): AnsweredFault[] {
  return faults.map(({ code, field, message }) => ({
    code,
    message: code in FAULTS ? FAULTS[code as FaultCode] : MESSAGES[code as ErrorCode],
    details: field === '' ? message : `${field}: ${message}`,
  }));
}

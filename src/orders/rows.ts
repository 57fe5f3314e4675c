import { type ErrorCode, FAULTS, type FaultCode, MESSAGES, type Problem } from '../values/errors.ts';
import { fieldsOf } from '../values/unknown.ts';

/** What all orders of many rows have in common. */

/** Rows of one order. */
export const MAX_ROWS = 5_000;
/** Unknown fields that are told of one row. */
export const MAX_UNKNOWN_FIELDS = 10;

/** What is wrong with a row. */
export interface RowFault {
  code: FaultCode | ErrorCode;
  /** The field; empty where it is the row as a whole. */
  field: string;
  message: string;
}

/** What is wrong with a row that an earlier one is equal to. */
export const DUPLICATE_ROW: RowFault = {
  ...{ field: '', code: 'duplicate_row', message: 'an earlier row of the file is the same' },
};

/** A refusal as what is wrong with a row. */
export function faultOf({ code, fault, details }: Problem): RowFault {
  return { code, field: fault?.field ?? '', message: fault?.message ?? details };
}

/** Which of some rows equal an earlier one. @param rows each as a text that is the same for equal ones (`sameness`) */
export function repeated(rows: readonly string[]): boolean[] {
  const seen = new Set<string>();
  return rows.map((row) => {
    const known = seen.has(row);
    seen.add(row);
    return known;
  });
}

/**
 * A row as a text in which the order of fields, nulls and ways to write a number make no difference.
 * @param sent the row
 * @param read what of it was read, by field: it stands for what was sent
 * @param also what else makes rows differ
 */
export function sameness(
  sent: unknown,
  read: Readonly<Record<string, unknown>> = {},
  also: readonly unknown[] = [],
): string {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return JSON.stringify(['', sent, ...also]);
  const given = Object.entries(fieldsOf(sent)).filter(([, value]) => value !== null);
  const plain = given.map(([field, value]) => [field, Object.hasOwn(read, field) ? read[field] : value]);
  return JSON.stringify([plain.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)), ...also]);
}

/** What is wrong with a row, as it is answered. */
export interface AnsweredFault {
  code: string;
  message: string;
  details: string;
}

/** Its faults as they are answered. */
export function answered(faults: readonly RowFault[]): AnsweredFault[] {
  return faults.map(({ code, field, message }) => ({
    code,
    message: code in FAULTS ? FAULTS[code as FaultCode] : MESSAGES[code as ErrorCode],
    details: field === '' ? message : `${field}: ${message}`,
  }));
}

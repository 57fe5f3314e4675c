import { MESSAGES, type Problem } from '../errors.ts';

/** Refused lines that an answer lists. */
export const MAX_ERRORS = 1_000;

export interface LineError {
  line: number;
  code: string;
  message: string;
  details: string;
}

/** The answer of POST /imports/{kind}. */
export interface ImportAnswer {
  accepted: number;
  rejected: number;
  errors: LineError[];
}

/** Counts refused lines, and lists those for which the answer has room. @param place what precedes the name of a field, as `body` */
export function reportRefusals(answer: ImportAnswer, refused: [line: number, Problem][], place: string): void {
  answer.rejected += refused.length;
  for (const [line, refusal] of refused.slice(0, MAX_ERRORS - answer.errors.length)) {
    const { code, details } = refusal.within(place);
    answer.errors.push({ line, code, message: MESSAGES[code], details });
  }
}

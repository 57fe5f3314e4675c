import { MESSAGES, type Problem } from '../values/errors.ts';

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
  /** Lines whose record is stored already, with the same content. */
  unchanged: number;
  rejected: number;
  errors: LineError[];
}

/** The answer's own fields of something that has others too. */
export function answerOf({ accepted, unchanged, rejected, errors }: ImportAnswer): ImportAnswer {
  return { accepted, unchanged, rejected, errors };
}

/**
 * The refused lines for which an answer still has room.
 * @param listed how many it has
 * @param place what precedes the name of a field, as `body`
 */
export function listedErrors(listed: number, refused: [line: number, Problem][], place: string): LineError[] {
  return refused.slice(0, MAX_ERRORS - listed).map(([line, refusal]) => {
    const { code, details } = refusal.within(place);
    return { line, code, message: MESSAGES[code], details };
  });
}

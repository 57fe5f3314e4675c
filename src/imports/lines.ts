import { isUtf8 } from 'node:buffer';
import { Problem } from '../values/errors.ts';
import { jsonFault, parseJson } from '../values/json.ts';
import { findUnstorable, NOT_STORABLE } from '../values/text.ts';

/** The most bytes of one line of an import (docs/decisions.md, 1, Body limit). */
export const MAX_LINE_BYTES = 65_536;

/** A line of a file. */
export interface Line {
  /** From 1. */
  number: number;
  /** Undefined if the line is longer than MAX_LINE_BYTES. */
  bytes: Buffer | undefined;
  /** Where it ends within the chunk that contains its newline; 0 if the file ends without one. */
  end: number;
}

const NEWLINE = 0x0a;

/**
 * Splits a stream of bytes into lines, and returns the lines of one chunk at a time. It keeps at most one unfinished line. A line that
 * exceeds MAX_LINE_BYTES is skipped to its end.
 */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Buffer[] = [];
  let restBytes = 0;
  let tooLong = false;
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      number += 1;
      start = end + 1;
      if (tooLong || restBytes + piece.length > MAX_LINE_BYTES) lines.push({ number, bytes: undefined, end: start });
      else lines.push({ number, bytes: rest.length === 0 ? piece : Buffer.concat([...rest, piece]), end: start });
      rest = [];
      restBytes = 0;
      tooLong = false;
    }
    const tail = chunk.subarray(start);
    restBytes += tail.length;
    if (restBytes > MAX_LINE_BYTES) {
      tooLong = true;
      rest = [];
    } else if (tail.length > 0) rest.push(tail);
    if (lines.length > 0) yield lines;
  }
  if (restBytes > 0) yield [{ number: number + 1, bytes: tooLong ? undefined : Buffer.concat(rest), end: 0 }];
}

/**
 * Matches numbers that a double would not print as they were written: exponents, trailing zeros of a fraction, many digits, -0. It looks
 * where a number may begin: after a name, or in a list. Times of day inside strings are in neither place. A false match in a string only
 * costs time. It is linear: from each place where a number may begin, no branch reads a character more than twice.
 */
const INEXACT = /(?:"\s*:|[[,])\s*(?:-0(?![.\d])|-?(?:\d[\d.]*[eE]|\d+\.\d*0(?!\d)|[\d.]{16}))/;

/**
 * The record of a line, equal to the result of parseJson. It is faster if no number needs that (1.1 us instead of 4 for a payment).
 * @returns undefined for a blank line
 * @throws Problem invalid_body, payload_too_large
 */
export function parseLine(line: Omit<Line, 'end'>): unknown {
  if (line.bytes === undefined)
    throw new Problem('payload_too_large', `line: must have at most ${MAX_LINE_BYTES} bytes`);
  if (!isUtf8(line.bytes)) throw new Problem('invalid_body', 'line: is not valid UTF-8');
  let text = line.bytes.toString('utf8');
  if (line.number === 1 && text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  if (text.trim() === '') return undefined;
  try {
    const value = INEXACT.test(text) || text.includes('__proto__') ? parseJson(text) : JSON.parse(text);
    if (text.includes('\\u')) checkTexts(value);
    return value;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('invalid_body', `line: is not valid JSON (${jsonFault(error)})`);
  }
}

/** @throws Problem invalid_body, which names the first text that cannot be stored; UTF-8 can write one only as an escape */
function checkTexts(record: unknown): void {
  const field = findUnstorable(record, '')?.replace(/^\./, '');
  if (field === '') throw new Problem('invalid_body', `line: the names of its fields ${NOT_STORABLE}`);
  if (field !== undefined) throw new Problem('invalid_body', { field, message: NOT_STORABLE });
}

import type { Lombard, NewMassBeneficiary } from '../../sdk/src/index.ts';
import { MAX_ROWS } from '../orders/rows.ts';
import { type CsvRow, isEmptyLine, OpenQuote, readCsv } from '../values/csv.ts';
import { present } from '../values/unknown.ts';
import { CommandFailure } from './failure.ts';
import type { Fields } from './fields.ts';
import type { Column, Printer } from './printer.ts';
import { jsonOf, readInput } from './result-file.ts';

/** A fault of a payee in a file. */
interface Finding {
  /** The line of the file on which the payee begins, from 1. */
  line: number;
  /** Null if the payee is refused as a whole. */
  field: string | null;
  code: string;
  details: string;
}

/** A payee of a file, in the form of the request that creates it. */
interface Payee {
  line: number;
  body: unknown;
}

const COLUMNS: Column<Finding>[] = [
  ['LINE', ({ line }) => line],
  ['FIELD', ({ field }) => field],
  ['CODE', ({ code }) => code],
  ['DETAILS', ({ details }) => details],
];

/**
 * Lets the service check the payees of a file, and prints their faults.
 * @param file `-` is standard input
 * @param fields of a payee, which are the columns of a CSV file
 * @returns the exit status: 1 if there is a fault
 * @throws CommandFailure, LombardError
 */
export async function checkPayees(lombard: Lombard, file: string, fields: Fields, print: Printer): Promise<0 | 1> {
  const content = await readInput(file);
  const isJson = /^\ufeff?\s*[[{]/.test(content);
  const found = isJson ? jsonPayees(file, content) : csvPayees(content, fields);
  const findings: Finding[] = [...found.findings];
  for (let from = 0; from < found.payees.length; from += MAX_ROWS)
    findings.push(...(await judge(lombard, found.payees.slice(from, from + MAX_ROWS))));
  findings.sort((one, other) => one.line - other.line);
  const payees = count(found.payees.length, 'payee');
  if (findings.length === 0 && !print.json) print.note(`${payees}: nothing is wrong`);
  else print.rows(findings, COLUMNS, { after: `${payees}, ${count(findings.length, 'fault')}` });
  return findings.length === 0 ? 0 : 1;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

async function judge(lombard: Lombard, payees: readonly Payee[]): Promise<Finding[]> {
  const bodies = payees.map(({ body }) => body) as NewMassBeneficiary;
  const { errors } = await lombard.massBeneficiaries.create(bodies, { validateOnly: true });
  return errors.map(({ code, details, request_index: index }) => {
    return { line: payees[index]?.line ?? 1, field: fieldOf(details), code, details };
  });
}

/** The field that details name, as in `iban: is not valid`. */
function fieldOf(details: string): string | null {
  return /^([^\s:]+): /.exec(details)?.[1] ?? null;
}

interface Found {
  payees: Payee[];
  findings: Finding[];
}

function jsonPayees(file: string, content: string): Found {
  const json = content.replace(/^\ufeff/, '');
  const value = jsonOf(file, json);
  const starts = startsOf(json);
  const all = Array.isArray(value) ? value : [value];
  if (all.length === 0) throw new CommandFailure(`${file} has no payees`);
  return { payees: all.map((body, at) => ({ line: starts[at] ?? 1, body })), findings: [] };
}

/** The lines on which the elements of a list begin; for any other value, its own line. @param json valid JSON */
function startsOf(json: string): number[] {
  const starts: number[] = [];
  const list = json.trimStart().startsWith('[') ? 1 : 0;
  let [line, depth] = [1, 0];
  let isNext = true;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|\n|[{}[\],]|[^\s{}[\],"]+/g)) {
    if (token === '\n') {
      line += 1;
      continue;
    }
    if (token === ']' || token === '}') depth -= 1;
    else if (depth === list && token === ',') isNext = true;
    else if (depth === list && isNext) {
      starts.push(line);
      isNext = false;
    }
    if (token === '[' || token === '{') depth += 1;
  }
  return starts;
}

/** @throws CommandFailure if the file has no rows, or is not a CSV */
function csvPayees(content: string, fields: Fields): Found {
  let rows: CsvRow[];
  try {
    rows = [...readCsv(content)].filter((row) => !isEmptyLine(row));
  } catch (error) {
    if (error instanceof OpenQuote) throw new CommandFailure(error.message);
    throw error;
  }
  const [header, ...others] = rows;
  if (!header || others.length === 0)
    throw new CommandFailure('the file has no payees: a CSV file begins with a header');
  const names = header.cells;
  const findings = names.flatMap((name, at): Finding[] => {
    const wrong = { line: header.line, field: name };
    if (!(name in fields)) return [{ ...wrong, code: 'unknown_field', details: `${name}: is not a field of a payee` }];
    if (names.indexOf(name) === at) return [];
    return [{ ...wrong, code: 'invalid_format', details: `${name}: is there twice` }];
  });
  if (findings.length > 0) return { payees: [], findings };
  const payees: Payee[] = [];
  for (const { line, cells, count } of others) {
    if (count === header.count) payees.push({ line, body: bodyOf(names, cells, fields) });
    else {
      const details = `has ${count} cells, and the header has ${header.count}`;
      findings.push({ line, field: null, code: 'invalid_format', details });
    }
  }
  return { payees, findings };
}

function bodyOf(names: readonly string[], cells: readonly string[], fields: Fields): object {
  const members = names.flatMap((name, at) => {
    const cell = present(cells[at]);
    return cell === '' ? [] : [[name, readCell(cell, fields[name]?.as)]];
  });
  return Object.fromEntries(members);
}

function readCell(cell: string, as: string | undefined): unknown {
  if (as === 'list') return cell.split(';').map((item) => item.trim());
  if (as === 'flag' && /^(true|false)$/.test(cell)) return cell === 'true';
  return cell;
}

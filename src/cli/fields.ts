import { type Command, InvalidArgumentError, Option } from 'commander';
import { type List, parse } from '../../sdk/src/index.ts';
import { namesOf } from '../values/unknown.ts';
import { CommandFailure, USAGE } from './failure.ts';
import type { Column, Printer } from './printer.ts';
import { readJson } from './result-file.ts';

/** A parameter or a field of a body, as an option takes it. */
export interface Field {
  about: string;
  /** `text` by default. `flag` is true where it has no value; `list` is divided by commas. */
  as?: 'text' | 'number' | 'integer' | 'flag' | 'list';
  /** The values of a closed list. */
  choices?: readonly string[];
}

/** Parameters or fields under the names that they have on the wire. */
export type Fields<Name extends string = string> = Record<Name, Field>;

/** The options of a command as commander gives them. */
type Given = Record<string, string | boolean | readonly string[] | undefined>;

const NUMBERS = {
  number: [/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/, 'must be a number, as 1250.50'],
  integer: [/^-?(?:0|[1-9]\d*)$/, 'must be a whole number'],
} as const;

/** Gives a command an option for each field: `bank_name` is `--bank-name`, and `--bank_name` too. */
export function withFields(command: Command, fields: Fields): Command {
  for (const name of namesOf(fields)) {
    const { about, as = 'text', choices } = fields[name] as Field;
    const option = new Option(`--${name.replaceAll('_', '-')} ${as === 'flag' ? '[boolean]' : '<value>'}`, about);
    if (choices) option.choices(choices);
    if (as === 'flag') option.choices(['true', 'false']).preset('true');
    if (as === 'number' || as === 'integer') option.argParser((text: string) => checked(text, as));
    command.addOption(option);
  }
  return command;
}

function checked(text: string, as: keyof typeof NUMBERS): string {
  const [pattern, message] = NUMBERS[as];
  if (!pattern.test(text)) throw new InvalidArgumentError(message);
  return text;
}

/** What the options of `withFields` were given, under the names on the wire. An empty value is null. Numbers keep their digits. */
export function fieldsGiven<Name extends string>(
  fields: Fields<Name>,
  options: object,
): Partial<Record<Name, unknown>> {
  const members = namesOf(fields).flatMap((name) => {
    const value = (options as Given)[name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())];
    return value === undefined ? [] : [`${JSON.stringify(name)}:${written(fields[name], String(value))}`];
  });
  return parse(`{${members.join(',')}}`) as Partial<Record<Name, unknown>>;
}

function written({ as = 'text' }: Field, value: string): string {
  if (value === '') return 'null';
  if (as === 'list') return JSON.stringify(value.split(',').map((item) => item.trim()));
  return as === 'text' ? JSON.stringify(value) : value;
}

const DEFAULT_PAGE_ROWS = 50;

/** The parameters of a list that is read page by page. */
export const PAGING = {
  page: { about: 'page, from 1', as: 'integer' },
  page_size: { about: `entries on a page, 1 to 1000 (${DEFAULT_PAGE_ROWS})`, as: 'integer' },
} as const satisfies Fields;

/** Prints one page of a list, and says what there is besides. @param what the entries are called */
export async function printPage<T>(
  print: Printer,
  list: List<T>,
  { page = 1, page_size: size = DEFAULT_PAGE_ROWS }: { page?: number; page_size?: number },
  columns: readonly Column<T>[],
  what: string,
): Promise<void> {
  const { items, total } = await list.page(page);
  const more = (page - 1) * size + items.length < total ? `; the next page: --page ${page + 1}` : '';
  print.rows(items, columns, { after: `${items.length} of ${total} ${what}${more}` });
}

/** Options of a command that makes something. */
export interface BodyOptions {
  file?: string;
  idempotencyKey?: string;
  validateOnly?: boolean;
}

/** As `withFields`, for the fields of a body, which can come whole from a file. */
export function withBody(command: Command, fields: Fields): Command {
  return withFields(command, fields).option(
    '--file <file>',
    'the whole body as JSON, in place of the fields; - reads standard input',
  );
}

/** The key of a creation; a script that is started again gives the same one. */
export function withKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'your own key of this order: given again within a day, nothing is made twice',
  );
}

/** All checks are made, and nothing is kept. */
export function withTrial(command: Command): Command {
  return command.option('--validate-only', 'only check it: nothing is kept');
}

/**
 * The body that a command of `withBody` was given: by its fields, or by a file.
 * @param shape makes the body of the fields; a file has it whole
 * @throws CommandFailure
 */
export async function bodyGiven<Name extends string>(
  fields: Fields<Name>,
  options: object,
  shape: (given: Partial<Record<Name, unknown>>) => object = (given) => given,
): Promise<object> {
  const given = fieldsGiven(fields, options);
  const [name] = Object.keys(given);
  const { file } = options as BodyOptions;
  if (file !== undefined && name !== undefined)
    throw new CommandFailure(`--file and --${name}: give the whole body in the file, or its fields as options`, USAGE);
  if (file !== undefined) return (await readJson(file)) as object;
  if (name === undefined) throw new CommandFailure('give the fields as options, or the whole body with --file', USAGE);
  return shape(given);
}

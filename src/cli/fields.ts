import { type Command, InvalidArgumentError, Option } from 'commander';
import { type List, parse } from '../../sdk/src/index.ts';
import { namesOf } from '../values/unknown.ts';
import { CommandFailure, USAGE } from './failure.ts';
import type { Column, Printer } from './printer.ts';
import { readJson } from './result-file.ts';

/** A parameter or a field of a body, as the option for it. */
export interface Field {
  about: string;
  /** By default `text`. A `flag` is true if it has no value; a `list` is separated by commas. */
  as?: 'text' | 'number' | 'integer' | 'flag' | 'list';
  /** The values of a closed list. */
  choices?: readonly string[];
}

/** Parameters or fields by their API names. */
export type Fields<Name extends string = string> = Record<Name, Field>;

/** The options of a command in commander's form. */
type Given = Record<string, string | boolean | readonly string[] | undefined>;

const NUMBERS = {
  number: [/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/, 'must be a number, as 1250.50'],
  integer: [/^-?(?:0|[1-9]\d*)$/, 'must be a whole number'],
} as const;

/** Gives a command an option for each field: `--bank-name` for `bank_name`, and `--bank_name` too. */
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

/** The values given to the options of `withFields`, by their API names. An empty value is null. Numbers keep their digits. */
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

/** Prints one page of a list, and how many more entries there are. @param what the name of the entries */
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

/** The options of a command that creates something. */
export interface BodyOptions {
  file?: string;
  idempotencyKey?: string;
  validateOnly?: boolean;
}

/** Like `withFields`, for the fields of a body, which may also come from a file. */
export function withBody(command: Command, fields: Fields): Command {
  return withFields(command, fields).option(
    '--file <file>',
    'the whole body as JSON, in place of the fields; - reads standard input',
  );
}

/** Adds the option for an idempotency key. A script that runs again gives the same key. */
export function withKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'your own key of this order: given again within a day, nothing is made twice',
  );
}

/** Adds the option that makes all checks and keeps nothing. */
export function withTrial(command: Command): Command {
  return command.option('--validate-only', 'only check it: nothing is kept');
}

/**
 * The body that was given to a command of `withBody`, from its fields or from a file.
 * @param shape makes the body from the fields; a file contains the whole body
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

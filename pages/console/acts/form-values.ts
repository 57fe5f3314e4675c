import { parse } from '../../../sdk/src/decimal.ts';
import type { TextKey } from '../../texts/keys.ts';

interface AnyField {
  /** The name in the API. */
  name: string;
  label: TextKey;
  hint?: TextKey;
  required?: true;
}

/** A field within a row. It has exactly one control, so that a form's rows can be told apart by position. */
export type CellForm = AnyField & { initial?: string } & (
    | { kind: 'text' | 'whole' | 'number' | 'day' | 'time' | 'email' | 'phone'; maxLength?: number }
    | { kind: 'choice'; options: readonly string[]; any?: TextKey }
  );
export type RowForm = AnyField & { kind: 'rows'; columns: readonly CellForm[] };
export type RowValue = Record<string, unknown>;

/** A field of a form. A `number` is sent with all its digits. */
export type FieldForm =
  | CellForm
  | RowForm
  | (AnyField & { kind: 'flag' | 'lines' })
  | (AnyField & { kind: 'choices'; options: readonly string[] });

/** A text that is a JSON number. Any other text is sent unchanged, and refused. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** The values of a form, under the API's names. Empty fields are null. */
export function valuesOf(form: FormData, fields: readonly FieldForm[]): Record<string, unknown> {
  return parse(objectOf(fields.map((field) => [field.name, fieldJson(form, field)]))) as Record<string, unknown>;
}

const objectOf = (members: [name: string, json: string][]) =>
  `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;

function cellJson({ kind }: CellForm, text: string): string {
  if (text === 'true' || text === 'false') return text;
  if (text === '') return 'null';
  return (kind === 'whole' || kind === 'number') && NUMBER.test(text) ? text : JSON.stringify(text);
}

function fieldJson(form: FormData, field: FieldForm): string {
  const texts = (name: string) => form.getAll(name).map((text) => String(text).trim());
  switch (field.kind) {
    case 'flag':
      return String(form.get(field.name) !== null);
    case 'choices':
      return JSON.stringify(texts(field.name));
    case 'lines':
      return JSON.stringify(
        texts(field.name)
          .flatMap((text) => text.split(/\r?\n/))
          .map((line) => line.trim())
          .filter(Boolean),
      );
    case 'rows':
      return rowsJson(field, texts);
    default:
      return cellJson(field, texts(field.name)[0] ?? '');
  }
}

function rowsJson({ name, columns }: RowForm, texts: (name: string) => string[]): string {
  const cells = columns.map((column) => ({ column, all: texts(`${name}.${column.name}`) }));
  const rows = (cells[0]?.all ?? []).map((_, place) =>
    objectOf(cells.map(({ column, all }) => [column.name, cellJson(column, all[place] ?? '')])),
  );
  return `[${rows.join(',')}]`;
}

/** The values that differ from the current ones: a change leaves out the rest. */
export function changedValues(after: Record<string, unknown>, before: object): Record<string, unknown> {
  const known = before as Record<string, unknown>;
  const text = (value: unknown) => JSON.stringify(value ?? null);
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => text(value) !== text(known[name])));
}

/** The values that are not null: a new record leaves out the rest. */
export function givenValues(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

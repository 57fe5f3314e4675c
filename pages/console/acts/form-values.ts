import { parse } from '../../../sdk/src/decimal.ts';
import type { TextKey } from '../../texts/keys.ts';

interface AnyField {
  /** The API's name. */
  name: string;
  label: TextKey;
  hint?: TextKey;
  required?: true;
}

/** A field within a row: one control, so that the rows of a form can be told apart by their place. */
export type CellForm = AnyField & { initial?: string } & (
    | { kind: 'text' | 'whole' | 'decimal' | 'number' | 'day' | 'time' | 'email' | 'phone'; maxLength?: number }
    | { kind: 'choice'; options: readonly string[]; any?: TextKey }
  );
export type RowForm = AnyField & { kind: 'rows'; columns: readonly CellForm[] };
export type RowValue = Record<string, unknown>;

/** A field of a form, and how its value is sent: `decimal` as its text, `number` as a number with all its digits. */
export type FieldForm =
  | CellForm
  | RowForm
  | (AnyField & { kind: 'flag' | 'lines' })
  | (AnyField & { kind: 'choices'; options: readonly string[] });

/** A text that is a JSON number; what is none is sent as it is, and refused. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

function cellOf({ kind }: CellForm, text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === '') return null;
  return kind === 'whole' && NUMBER.test(text) ? Number(text) : text;
}

/** What a form says, under the names of the API. Empty fields are null; a `number` keeps all its digits. */
export function valuesOf(form: FormData, fields: readonly FieldForm[]): Record<string, unknown> {
  const members = fields.map((field) => {
    const value = fieldValue(form, field);
    const isNumber = field.kind === 'number' && NUMBER.test(String(value));
    return `${JSON.stringify(field.name)}:${isNumber ? value : JSON.stringify(value)}`;
  });
  return parse(`{${members.join(',')}}`) as Record<string, unknown>;
}

function fieldValue(form: FormData, field: FieldForm): unknown {
  const texts = (name: string) => form.getAll(name).map((text) => String(text).trim());
  switch (field.kind) {
    case 'flag':
      return form.get(field.name) !== null;
    case 'choices':
      return texts(field.name);
    case 'lines':
      return texts(field.name)
        .flatMap((text) => text.split(/\r?\n/))
        .map((line) => line.trim())
        .filter(Boolean);
    case 'rows':
      return rowsOf(field, texts);
    default:
      return cellOf(field, texts(field.name)[0] ?? '');
  }
}

function rowsOf({ name, columns }: RowForm, texts: (name: string) => string[]): RowValue[] {
  const cells = columns.map((column) => ({ column, all: texts(`${name}.${column.name}`) }));
  return (cells[0]?.all ?? []).map((_, place) =>
    Object.fromEntries(cells.map(({ column, all }) => [column.name, cellOf(column, all[place] ?? '')])),
  );
}

/** Those of the values that differ from what there is: a change says nothing of the rest. */
export function changedValues(after: Record<string, unknown>, before: object): Record<string, unknown> {
  const known = before as Record<string, unknown>;
  const text = (value: unknown) => JSON.stringify(value ?? null);
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => text(value) !== text(known[name])));
}

/** The values without those that are null: what a new record leaves out. */
export function givenValues(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

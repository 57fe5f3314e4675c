/** Helpers for values of unknown type: thrown values, JSON from others, words that should be from a list. */

/** Whether a value can have fields. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The fields of a value. Anything but an object has no fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The items of a list. Anything but a list has no items. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of a value by their names; undefined if one is missing or is not a text. */
export function textsOf<Name extends string>(value: unknown, names: readonly Name[]): Record<Name, string> | undefined {
  const fields = fieldsOf(value);
  return names.every((name) => typeof fields[name] === 'string')
    ? tableOf(names, (name) => String(fields[name]))
    : undefined;
}

/** A value that an earlier step made sure of. @throws Error if it is missing after all, which is a fault of ours */
export function present<T>(value: T): NonNullable<T> {
  if (value === undefined || value === null) throw new Error('a value that must be there is missing');
  return value;
}

/** A thrown value as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of an error, or the value as text. */
export function messageOf(error: unknown): string {
  const { message } = fieldsOf(error);
  return typeof message === 'string' ? message : String(error);
}

/** The code of an error from the system, a library or the database (SQLSTATE); undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === 'string' ? code : undefined;
}

/** Whether a value is one of a closed list. */
export function isOneOf<T>(values: readonly T[], value: unknown): value is T {
  const all: readonly unknown[] = values;
  return all.includes(value);
}

/** A record with a value for each of the given names. */
export function tableOf<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}

/** The names of a record that has exactly the fields of its type, for constants. */
export function namesOf<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}

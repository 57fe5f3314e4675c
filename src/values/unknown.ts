/** What can be said of a value whose type nobody knows: what was thrown, JSON of somebody else, a word of a list. */

/** Whether a value has fields. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The fields of a value. Anything but an object has none. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The values of a list. Anything but a list has none. */
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

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** What an error says. */
export function messageOf(error: unknown): string {
  const { message } = fieldsOf(error);
  return typeof message === 'string' ? message : String(error);
}

/** The code of an error of the system, a library or the database (SQLSTATE); undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === 'string' ? code : undefined;
}

/** Whether a value is one of a closed list. */
export function isOneOf<T>(values: readonly T[], value: unknown): value is T {
  const all: readonly unknown[] = values;
  return all.includes(value);
}

/** A value for each of some names. */
export function tableOf<Name extends string, Value>(
  names: readonly Name[],
  of: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>;
}

/** The names of a record that has no others than its type says, as a constant. */
export function namesOf<T extends object>(record: T): (keyof T & string)[] {
  return Object.keys(record) as (keyof T & string)[];
}

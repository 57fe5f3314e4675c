import { type Static, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import type { Vault } from '../values/crypto.ts';
import type { Columns, CopyValue } from './copy.ts';

/**
 * A record is declared once. The declaration gives each field its schema, its column, its initial value, and a canonical form in which
 * equal values are the same. Everything else follows from it: types, request bodies, answers, select lists, inserts, changes, COPY and the
 * comparisons of imports.
 */

/** Who supplies a field: callers must, callers may, or the service makes it. */
type Presence = 'required' | 'optional' | 'made';

interface Options<Value, S extends TSchema = TSchema> {
  /** The column; by default the field's name. */
  column?: string;
  /** The expression that reads it, if another table holds it. The code that writes the record also writes it there. */
  elsewhere?: string;
  /** The schema in answers; by default the type of the given schema, without its limits. */
  shown?: S;
  /** Its value in the example of an answer. */
  example?: unknown;
  /** No change of the record may change it. */
  fixed?: true;
  /** Converts a value to its stored form. @throws Problem that names the field */
  normal?: (value: Value) => CopyValue;
  /** Converts a given or stored value to a form in which equal values are the same; by default `normal`. */
  form?: (value: Value, vault: Vault) => unknown;
  /** Null leaves the choice to the service. So an import line with null does not differ from any stored value. */
  open?: true;
}

/** A field of a record: what callers give, and what they read. */
export interface Field<Given = unknown, Shown = unknown, Who extends Presence = Presence> {
  readonly presence: Who;
  readonly given: TSchema;
  /** Undefined if no answer shows it. */
  readonly shown: TSchema | undefined;
  readonly example: unknown;
  readonly column: string | undefined;
  readonly elsewhere: string | undefined;
  readonly fixed: boolean;
  /** What a new record stores if nobody gives it. */
  readonly initial: CopyValue;
  readonly normal: ((value: never) => CopyValue) | undefined;
  readonly form: ((value: never, vault: Vault) => unknown) | undefined;
  readonly open: boolean;
  /** Only for the compiler; never set. */
  readonly types?: { given: Given; shown: Shown };
}

/** A field that callers must give. */
export function required<S extends TSchema, T extends TSchema = S>(
  schema: S,
  options: Options<Static<S>, T> = {},
): Field<Static<S>, Static<T>, 'required'> {
  return field('required', schema, options, { shown: withoutLimits(schema), initial: undefined });
}

/** A field that callers may give. If they leave it out, it is null. */
export function optional<S extends TSchema, T extends TSchema = TUnsafe<Static<S> | null>>(
  schema: S,
  options: Options<Static<S>, T> = {},
): Field<Static<S> | null, Static<T>, 'optional'> {
  const given = Type.Optional(Type.Union([schema, Type.Null()]));
  return field('optional', given, options, { shown: Type.Union([withoutLimits(schema), Type.Null()]), initial: null });
}

/** A field that callers may give. If they leave it out, it has an initial value. It is never null. */
export function initially<S extends TSchema, T extends TSchema = S>(
  schema: S,
  initial: CopyValue,
  options: Options<Static<S>, T> = {},
): Field<Static<S>, Static<T>, 'optional'> {
  return field('optional', Type.Optional(schema), options, { shown: withoutLimits(schema), initial });
}

/** A field that callers may choose when they create the record. If they leave it out, the service makes it. */
export function chosen<S extends TSchema, T extends TSchema = S>(
  schema: S,
  options: Options<Static<S>, T> = {},
): Field<Static<S>, Static<T>, 'optional'> {
  return field(
    'optional',
    Type.Optional(schema),
    { ...options, fixed: true },
    { shown: withoutLimits(schema), initial: undefined },
  );
}

/** A field that callers may give but nobody can read, such as a secret. */
export function hidden<S extends TSchema>(
  schema: S,
  options: Options<Static<S>> = {},
): Field<Static<S>, never, 'optional'> {
  return field('optional', Type.Optional(schema), options, { shown: undefined, initial: null });
}

/** The same field, but no answer shows it. */
export function unseen<Given, Who extends Presence>(seen: Field<Given, unknown, Who>): Field<Given, never, Who> {
  return { ...seen, shown: undefined, types: undefined };
}

/** A field that only the service writes. */
export function made<S extends TSchema>(schema: S, options: Options<Static<S>> = {}): Field<never, Static<S>, 'made'> {
  return field('made', schema, { ...options, fixed: true }, { shown: schema, initial: undefined });
}

function field<Given, Shown, Who extends Presence>(
  presence: Who,
  given: TSchema,
  options: Options<never>,
  { shown, initial }: { shown: TSchema | undefined; initial: CopyValue },
): Field<Given, Shown, Who> {
  const { column, elsewhere, example, normal, form = normal, fixed = false, open = false } = options;
  return {
    presence,
    given,
    shown: options.shown ?? shown,
    example,
    column,
    elsewhere,
    fixed,
    initial,
    normal,
    form,
    open,
  };
}

/** @throws Problem that names the field */
function storedValue({ initial, normal }: Field, given: CopyValue): CopyValue {
  if (given === undefined) return initial;
  return normal && given !== null ? normal(given as never) : given;
}

/** The schema of an answer: for a text or a flag only its type, otherwise the schema that callers see. */
function withoutLimits(schema: TSchema): TSchema {
  if (!('type' in schema) || 'enum' in schema) return schema;
  if (schema.type === 'boolean') return Type.Boolean();
  return schema.type === 'string' ? Type.String() : schema;
}

/** The fields of a record, in the order in which answers have them. */
type Fields = Record<string, Field>;
type Of<F extends Fields, Who extends Presence> = {
  [Name in keyof F]: F[Name]['presence'] extends Who ? Name : never;
}[keyof F];
type Types<F extends Field> = NonNullable<F['types']>;

/** What callers give to create a record. */
export type Input<R extends { fields: Fields }> = {
  [Name in Of<R['fields'], 'required'>]: Types<R['fields'][Name]>['given'];
} & {
  [Name in Of<R['fields'], 'optional'>]?: Types<R['fields'][Name]>['given'];
};
/** What callers give to change a record. */
export type Patch<R extends { fields: Fields }> = Partial<Input<R>>;
/** A record as answers show it. */
export type Shown<R extends { fields: Fields }> = {
  [Name in keyof R['fields'] as [Types<R['fields'][Name]>['shown']] extends [never] ? never : Name]: Types<
    R['fields'][Name]
  >['shown'];
};

/** The schema of a field that callers must or may give. The declaration determines the type of the value. */
type Schema<Value, Who extends Presence> = Who extends 'optional' ? TOptional<TUnsafe<Value>> : TUnsafe<Value>;
type GivenProperties<F extends Fields> = {
  [Name in Of<F, 'required' | 'optional'>]: Schema<Types<F[Name]>['given'], F[Name]['presence']>;
};
type ShownProperties<F extends Fields> = {
  [Name in keyof Shown<{ fields: F }>]: TUnsafe<Types<F[Name & keyof F]>['shown']>;
};

/** A stored value for each column. */
export type Stored = Record<string, CopyValue>;

/** How an import compares stored records with those of its lines (src/imports/conflicts.ts). */
interface Comparison {
  table: string;
  id: string;
  fields: Record<string, string>;
  forms: Record<string, (value: unknown, vault: Vault) => unknown>;
  chosen: string[];
}

/** A declared kind of record. Its names are the program's own, never a caller's. */
export class RecordKind<F extends Fields> {
  readonly table: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly fields: F;
  /** The columns of fields that are stored as given. */
  readonly #columns: [name: string, column: string, field: Field][];

  constructor({ table, id, fields }: { table: string; id: keyof F & string; fields: F }) {
    this.table = table;
    this.id = id;
    this.fields = fields;
    this.#columns = Object.entries(fields).flatMap(([name, each]) =>
      each.presence === 'made' || each.elsewhere !== undefined ? [] : [[name, each.column ?? name, each]],
    );
  }

  /** The properties of a body that creates a record. @param first fields that the description shows before the others */
  given(...first: (keyof F & string)[]): GivenProperties<F> {
    const all: TProperties = this.#schemas('given', ({ presence }) => presence !== 'made');
    return Object.assign(Object.fromEntries(first.map((name) => [name, all[name]])), all) as GivenProperties<F>;
  }

  /** The properties of a body that changes a record, for `Type.Partial`. */
  get changed(): GivenProperties<F> {
    return this.#schemas<GivenProperties<F>>('given', ({ fixed }) => !fixed);
  }

  /** The properties of an answer. */
  get shown(): ShownProperties<F> {
    return this.#schemas<ShownProperties<F>>('shown', ({ shown }) => shown !== undefined);
  }

  /** An example of an answer, made of the examples of its fields. */
  get example(): Record<string, unknown> {
    const shown = Object.entries(this.fields).filter(([, { example }]) => example !== undefined);
    return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
  }

  /** The compiler cannot see that the properties match the types of the declaration, so the result is cast. */
  #schemas<P extends TProperties>(which: 'given' | 'shown', wanted: (field: Field) => boolean): P {
    const found = Object.entries(this.fields).filter(([, each]) => wanted(each));
    return Object.fromEntries(found.map(([name, each]) => [name, each[which]])) as P;
  }

  /** A record as answers show it, in the order of `names`. A field without a value is null. */
  show<Name extends keyof Shown<{ fields: F }>>(
    names: readonly Name[],
    values: Partial<Shown<{ fields: F }>>,
  ): Pick<Shown<{ fields: F }>, Name> {
    const record: Record<PropertyKey, unknown> = {};
    for (const name of names) record[name] = values[name] ?? null;
    return record as Pick<Shown<{ fields: F }>, Name>;
  }

  /** The columns of a record as answers show it, for a `select` or a `returning`. */
  get select(): string {
    return this.selectWithout();
  }

  /** The fields that answers show, in their order. */
  get names(): (keyof Shown<{ fields: F }>)[] {
    return Object.keys(this.shown) as (keyof Shown<{ fields: F }>)[];
  }

  /** Like `select`, without some fields, for an alias of the table. Each field that is in this table is a column with the field's name. */
  selectFrom(alias: string, ...without: (keyof F)[]): string {
    return Object.entries(this.fields)
      .filter(([name, { shown }]) => shown !== undefined && !without.includes(name))
      .map(([name, { elsewhere }]) => (elsewhere === undefined ? `${alias}.${name}` : `${elsewhere} as ${name}`))
      .join(', ');
  }

  /** Like `select`, without some fields. */
  selectWithout(...names: (keyof F)[]): string {
    return Object.entries(this.fields)
      .filter(([name, { shown }]) => shown !== undefined && !names.includes(name))
      .map(([name, { column = name, elsewhere = column }]) => (elsewhere === name ? name : `${elsewhere} as ${name}`))
      .join(', ');
  }

  /**
   * What a new record stores for the given input.
   * @throws Problem that names the first wrong field
   */
  stored(input: object): Stored {
    const values: Stored = {};
    for (const [name, column, field] of this.#columns) values[column] = storedValue(field, (input as Stored)[name]);
    return values;
  }

  /** What a change stores for the given patch; nothing for a field that is left out. @throws Problem, like `stored` */
  changes(patch: object): Stored {
    const values: Stored = {};
    for (const [name, column, field] of this.#columns) {
      const value = (patch as Stored)[name];
      if (!field.fixed && value !== undefined) values[column] = storedValue(field, value);
    }
    return values;
  }

  /** The columns for COPY of rows that have their stored values. @param others further columns, and those that override stored values */
  copied<Row extends { stored: Stored }>(others: Columns<Row>): Columns<Row> {
    const own = this.#columns.map(([, column]) => [column, ({ stored }: Row) => stored[column]] as const);
    return { ...Object.fromEntries(own), ...others };
  }

  /** Like `copied`, for rows with their given input. Storing the input must not refuse anything. */
  written<Row extends { input: object }>(others: Columns<Row>): Columns<Row> {
    const own = this.#columns.map(
      ([name, column, field]) => [column, ({ input }: Row) => storedValue(field, (input as Stored)[name])] as const,
    );
    return { ...Object.fromEntries(own), ...others };
  }

  get comparison(): Comparison {
    const compared = this.#columns.filter(([name]) => name !== this.id);
    const forms = compared.flatMap(([name, , { form }]) =>
      form ? [[name, form as Comparison['forms'][string]] as const] : [],
    );
    return {
      table: this.table,
      id: this.id,
      fields: Object.fromEntries(compared.map(([name, column]) => [name, `t.${column}`])),
      forms: Object.fromEntries(forms),
      chosen: compared.flatMap(([name, , { open }]) => (open ? [name] : [])),
    };
  }

  /** The fields that no change may change, except the identifier. */
  get fixed(): string[] {
    return this.#columns.flatMap(([name, , { fixed }]) => (fixed && name !== this.id ? [name] : []));
  }
}

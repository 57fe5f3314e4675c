import { type Static, type TOptional, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import type { Vault } from '../values/crypto.ts';
import type { Columns, CopyValue } from './copy.ts';

/**
 * A record is declared once: each field with its schema, its column, what is stored where nobody gives it, and the form in which equal
 * values are the same. Types, bodies of requests, answers, select lists, inserts, changes, COPY and the comparisons of imports follow.
 */

/** Who gives a field: callers must, callers may, or the service makes it. */
type Presence = 'required' | 'optional' | 'made';

interface Options<Value, S extends TSchema = TSchema> {
  /** The column; default: the field's name. */
  column?: string;
  /** The expression that reads it, if it is in another table. The code that writes the record writes it there too. */
  elsewhere?: string;
  /** What answers say of it; default: the type of what is given, without its limits. */
  shown?: S;
  /** Its value in the example of an answer. */
  example?: unknown;
  /** No change of the record changes it. */
  fixed?: true;
  /** A value as it is stored. @throws Problem that names the field */
  normal?: (value: Value) => CopyValue;
  /** A given or a stored value in a form that is the same for equal ones; default: `normal`. */
  form?: (value: Value, vault: Vault) => unknown;
  /** Null leaves the choice to the service. So a line with null does not differ from a stored value. */
  open?: true;
}

/** A field of a record: what callers give, and what they read. */
export interface Field<Given = unknown, Shown = unknown, Who extends Presence = Presence> {
  readonly presence: Who;
  readonly given: TSchema;
  /** Undefined where no answer has it. */
  readonly shown: TSchema | undefined;
  readonly example: unknown;
  readonly column: string | undefined;
  readonly elsewhere: string | undefined;
  readonly fixed: boolean;
  /** What a new record stores where nobody gives it. */
  readonly initial: CopyValue;
  readonly normal: ((value: never) => CopyValue) | undefined;
  readonly form: ((value: never, vault: Vault) => unknown) | undefined;
  readonly open: boolean;
  /** For the compiler only; it is never set. */
  readonly types?: { given: Given; shown: Shown };
}

/** A field that callers must give. */
export function required<S extends TSchema, T extends TSchema = S>(
  schema: S,
  options: Options<Static<S>, T> = {},
): Field<Static<S>, Static<T>, 'required'> {
  return field('required', schema, options, { shown: withoutLimits(schema), initial: undefined });
}

/** A field that callers may give. One that they leave out is null. */
export function optional<S extends TSchema, T extends TSchema = TUnsafe<Static<S> | null>>(
  schema: S,
  options: Options<Static<S>, T> = {},
): Field<Static<S> | null, Static<T>, 'optional'> {
  const given = Type.Optional(Type.Union([schema, Type.Null()]));
  return field('optional', given, options, { shown: Type.Union([withoutLimits(schema), Type.Null()]), initial: null });
}

/** A field that callers may give. One that they leave out has an initial value; it is never null. */
export function initially<S extends TSchema, T extends TSchema = S>(
  schema: S,
  initial: CopyValue,
  options: Options<Static<S>, T> = {},
): Field<Static<S>, Static<T>, 'optional'> {
  return field('optional', Type.Optional(schema), options, { shown: withoutLimits(schema), initial });
}

/** A field that callers may choose when they create the record. The service makes one that they leave out. */
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

/** A field that callers may give and nobody reads, as a secret. */
export function hidden<S extends TSchema>(
  schema: S,
  options: Options<Static<S>> = {},
): Field<Static<S>, never, 'optional'> {
  return field('optional', Type.Optional(schema), options, { shown: undefined, initial: null });
}

/** A field as it is, but no answer has it. */
export function unseen<Given, Who extends Presence>(seen: Field<Given, unknown, Who>): Field<Given, never, Who> {
  return { ...seen, shown: undefined, types: undefined };
}

/** A field that the service alone writes. */
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

/** What an answer says of a text or a flag: its type. Of other schemas it says what callers are told. */
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
/** What callers give to change one. */
export type Patch<R extends { fields: Fields }> = Partial<Input<R>>;
/** A record as answers show it. */
export type Shown<R extends { fields: Fields }> = {
  [Name in keyof R['fields'] as [Types<R['fields'][Name]>['shown']] extends [never] ? never : Name]: Types<
    R['fields'][Name]
  >['shown'];
};

/** The schema of a value whose type the declaration says, of a field that callers must give or may. */
type Schema<Value, Who extends Presence> = Who extends 'optional' ? TOptional<TUnsafe<Value>> : TUnsafe<Value>;
type GivenProperties<F extends Fields> = {
  [Name in Of<F, 'required' | 'optional'>]: Schema<Types<F[Name]>['given'], F[Name]['presence']>;
};
type ShownProperties<F extends Fields> = {
  [Name in keyof Shown<{ fields: F }>]: TUnsafe<Types<F[Name & keyof F]>['shown']>;
};

/** A value for each column. */
export type Stored = Record<string, CopyValue>;

/** How stored records are compared with what names them (src/imports/conflicts.ts). */
interface Comparison {
  table: string;
  id: string;
  fields: Record<string, string>;
  forms: Record<string, (value: unknown, vault: Vault) => unknown>;
  chosen: string[];
}

/** A kind of record, as it is declared. Names are the program's own, never a caller's. */
export class RecordKind<F extends Fields> {
  readonly table: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly fields: F;
  /** The column of each field that is stored as it is given. */
  readonly #columns: [name: string, column: string, field: Field][];

  constructor({ table, id, fields }: { table: string; id: keyof F & string; fields: F }) {
    this.table = table;
    this.id = id;
    this.fields = fields;
    this.#columns = Object.entries(fields).flatMap(([name, each]) =>
      each.presence === 'made' || each.elsewhere !== undefined ? [] : [[name, each.column ?? name, each]],
    );
  }

  /** The properties of a body that creates a record. @param first those that the description shows before the others */
  given(...first: (keyof F & string)[]): GivenProperties<F> {
    const all: TProperties = this.#schemas('given', ({ presence }) => presence !== 'made');
    return Object.assign(Object.fromEntries(first.map((name) => [name, all[name]])), all) as GivenProperties<F>;
  }

  /** The properties of a body that changes one, for `Type.Partial`. */
  get changed(): GivenProperties<F> {
    return this.#schemas<GivenProperties<F>>('given', ({ fixed }) => !fixed);
  }

  /** The properties of an answer. */
  get shown(): ShownProperties<F> {
    return this.#schemas<ShownProperties<F>>('shown', ({ shown }) => shown !== undefined);
  }

  /** An answer, of the examples of its fields. */
  get example(): Record<string, unknown> {
    const shown = Object.entries(this.fields).filter(([, { example }]) => example !== undefined);
    return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
  }

  /** The compiler cannot see which properties the types of a declaration promise. */
  #schemas<P extends TProperties>(which: 'given' | 'shown', wanted: (field: Field) => boolean): P {
    const found = Object.entries(this.fields).filter(([, each]) => wanted(each));
    return Object.fromEntries(found.map(([name, each]) => [name, each[which]])) as P;
  }

  /** A record as answers show it, in the order of `names`: null for what has no value. */
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

  /** As `select`, without some of its fields, of an alias of the table: each field that is not elsewhere is a column with its name. */
  selectFrom(alias: string, ...without: (keyof F)[]): string {
    return Object.entries(this.fields)
      .filter(([name, { shown }]) => shown !== undefined && !without.includes(name))
      .map(([name, { elsewhere }]) => (elsewhere === undefined ? `${alias}.${name}` : `${elsewhere} as ${name}`))
      .join(', ');
  }

  /** As `select`, without some of its fields. */
  selectWithout(...names: (keyof F)[]): string {
    return Object.entries(this.fields)
      .filter(([name, { shown }]) => shown !== undefined && !names.includes(name))
      .map(([name, { column = name, elsewhere = column }]) => (elsewhere === name ? name : `${elsewhere} as ${name}`))
      .join(', ');
  }

  /**
   * What a new record stores of what is given.
   * @throws Problem that names the field, from the first one that is wrong
   */
  stored(input: object): Stored {
    const values: Stored = {};
    for (const [name, column, field] of this.#columns) values[column] = storedValue(field, (input as Stored)[name]);
    return values;
  }

  /** What a change stores of what is given: nothing for a field that is left out. @throws Problem, as `stored` */
  changes(patch: object): Stored {
    const values: Stored = {};
    for (const [name, column, field] of this.#columns) {
      const value = (patch as Stored)[name];
      if (!field.fixed && value !== undefined) values[column] = storedValue(field, value);
    }
    return values;
  }

  /** What COPY writes of rows, each with what is stored of it. @param others further columns, and those that the row knows better */
  copied<Row extends { stored: Stored }>(others: Columns<Row>): Columns<Row> {
    const own = this.#columns.map(([, column]) => [column, ({ stored }: Row) => stored[column]] as const);
    return { ...Object.fromEntries(own), ...others };
  }

  /** The same of rows, each with what is given, where storing it refuses nothing. */
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

  /** The fields that no change changes, but for the identifier. */
  get fixed(): string[] {
    return this.#columns.flatMap(([name, , { fixed }]) => (fixed && name !== this.id ? [name] : []));
  }
}

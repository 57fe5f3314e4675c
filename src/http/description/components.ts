import { fieldsOf, listOf } from '../../values/unknown.ts';
import { NO_NULL, ORDER, takesNull } from '../schemas/order-body.ts';

/**
 * Turns schemas with a title into components of that name, and refers to them wherever they are used. An `x-form` replaces the schema that
 * has it.
 */

type Json = Readonly<Record<string, unknown>>;

/** Members with values that only look like schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const', 'security', 'x-graphql']);
/** Members that describe a schema in words. Its `x-form` contains the rest. */
const WORDS = ['title', 'description', 'examples', 'default'];
const NAME = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Gives each titled schema a single place in the description. Routes contain their schemas whole, because validation and serialization are
 * compiled from them.
 * @param document an OpenAPI document; it is not changed
 * @returns the document with a component for each title, and a `$ref` wherever the schema is used
 * @throws TypeError if two different schemas have the same title
 */
export function nameSchemas(document: Json): Json {
  const schemas: Record<string, Json> = {};
  const { info, ...rest } = document;
  const named = fieldsOf(walk(rest, schemas));
  const sorted = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...named, info, components: { ...fieldsOf(named.components), schemas: sorted } };
}

function walk(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(shown(fieldsOf(value))))
    copy[key] = VALUES.has(key) ? inner : walk(inner, schemas);
  const { title, ...schema } = copy;
  if (typeof title !== 'string' || !NAME.test(title)) return copy;
  const known = schemas[title];
  if (known && !sameShape(known, schema)) throw new TypeError(`two schemas have the name ${title}`);
  schemas[title] = { ...schema, ...known };
  return { $ref: `#/components/schemas/${title}` };
}

/**
 * A schema in the form of the description. Its form (schemas.ts, `formed`) replaces what the validator checks. In the body of an order,
 * optional fields allow null.
 */
function shown(schema: Json): Json {
  const { 'x-form': form } = schema;
  if (typeof form !== 'object') return ORDER in schema ? withNulls(schema) : schema;
  const words = WORDS.filter((key) => key in schema).map((key) => [key, schema[key]]);
  return { ...shown(fieldsOf(form)), ...Object.fromEntries(words) };
}

/** The body of an order, in which each optional field also allows null. */
function withNulls(node: Json): Json {
  const { properties, items, required } = node;
  const kept = [...listOf(required), ...listOf(node[NO_NULL])];
  const fields = Object.entries(fieldsOf(properties)).map(([name, field]) => {
    const inner = withNulls(shown(fieldsOf(field)));
    return [name, kept.includes(name) || takesNull(inner) ? inner : nullable(inner)];
  });
  return {
    ...node,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(items === undefined ? {} : { items: withNulls(fieldsOf(items)) }),
  };
}

function nullable({ description, ...field }: Json): Json {
  if (Object.keys(field).length === 0) return { description };
  return { anyOf: [field, { type: 'null' }], ...(description === undefined ? {} : { description }) };
}

/** Whether two schemas are equal apart from examples, which the framework moves out of some schemas. */
function sameShape({ examples: _a, ...one }: Json, { examples: _b, ...other }: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

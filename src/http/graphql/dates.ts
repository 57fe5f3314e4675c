import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { parseStart } from '../../values/calendar.ts';
import { fieldsOf } from '../../values/unknown.ts';

/**
 * The scalar that PostGraphile gives to an instant. It takes any text, since PostgreSQL reads more notations than ISO 8601. What PostgreSQL
 * cannot read either has to be found afterwards.
 */
const DATETIME = 'Datetime';

/** What a value for an instant must be. */
export const INSTANT = 'must be an instant, for example 2026-11-21T10:00:00Z';

interface Asked {
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
}

interface Given {
  /** Its path, such as `filter.createdAt.lessThan`. */
  path: string;
  value: unknown;
}

/** The path of the first value for an instant that is not written as a day or an instant of ISO 8601; undefined if there is none. */
export function misspeltDate(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, variables }: Asked,
): string | undefined {
  const given = givenDates(schema, document, { operation, variables });
  return given.find(({ value }) => typeof value === 'string' && parseStart(value) === undefined)?.path;
}

function givenDates(schema: GraphQLSchema, document: DocumentNode, { operation, variables }: Asked): Given[] {
  const found: Given[] = [];
  const path: string[] = [];
  const types = new TypeInfo(schema);
  const named = {
    enter: ({ name }: { name: { value: string } }) => void path.push(name.value),
    leave: () => void path.pop(),
  };
  const take = (value: unknown, key: string | number | undefined) => {
    const type = types.getInputType();
    const place = typeof key === 'number' && path.length > 0 ? `${path.join('.')}[${key}]` : path.join('.');
    if (type) found.push(...datesWithin(type, value, place));
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      OperationDefinition: (node) => (node === operation ? undefined : false),
      VariableDefinition: () => false,
      Argument: named,
      ObjectField: named,
      Variable: ({ name }) => take(variables[name.value], undefined),
      [Kind.STRING]: ({ value }, key) => take(value, key),
    }),
  );
  return found;
}

/** The values for instants within a value of a variable. */
function datesWithin(of: GraphQLInputType, value: unknown, path: string): Given[] {
  const type = getNullableType(of);
  if (isListType(type) && Array.isArray(value))
    return value.flatMap((element, index) => datesWithin(type.ofType, element, `${path}[${index}]`));
  if (isListType(type)) return datesWithin(type.ofType, value, path);
  if (isInputObjectType(type))
    return Object.entries(fieldsOf(value)).flatMap(([name, inner]) => {
      const field = type.getFields()[name];
      return field ? datesWithin(field.type, inner, `${path}.${name}`) : [];
    });
  return type.name === DATETIME ? [{ path, value }] : [];
}

import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { fragmentsOf } from './document.ts';
import { LIMITS, limitError } from './limits.ts';

/**
 * Entries of a page where neither `first` nor `last` is given, by how many connections stand around it (none, one, two or
 * more). The first line that keeps the operation within COST is taken, so that a plain question always has an answer.
 */
const DEFAULT_PAGES = [
  [100, 100, 100],
  [100, 50, 20],
  [100, 20, 10],
  [100, 10, 5],
  [50, 10, 5],
  [20, 10, 5],
  [10, 5, 5],
] as const;

/** Entries that a list of the schema's description is taken to have; the others 2. */
const INTROSPECTION_LISTS: Readonly<Record<string, number>> = {
  types: 40,
  fields: 8,
  inputFields: 8,
  args: 4,
  enumValues: 8,
  directives: 5,
  locations: 5,
};
const INTROSPECTION_LIST = 2;

/** Entries that a list is taken to have that is no connection: extra headers, of which there are at most five. */
const LIST = 5;
/** What a field counts for, where it is more than one value: up to 2,048 characters. */
const WEIGHTS: Readonly<Record<string, number>> = { 'Subscription.url': 10 };

export interface Cost {
  values: number;
  introspected: number;
  /** The page of each connection that names none. */
  pages: ReadonlyMap<FieldNode, number>;
  /** How often the operation names each field (`Type.field`), fragments resolved. */
  copies: ReadonlyMap<string, number>;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * What an operation can come to at most: values answered, pages multiplied, and the page of every connection without one.
 * @param document valid against the schema and within the limits of document.ts
 * @throws GraphQLError of the limit that is exceeded
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): Cost {
  let cost: Cost | undefined;
  for (const pages of DEFAULT_PAGES) {
    cost = new Meter(schema, document, operation, variables, pages).measure();
    if (cost.values <= LIMITS.COST) break;
  }
  if (cost === undefined || cost.values > LIMITS.COST) {
    throw limitError(
      'COST',
      `The operation may answer ${cost?.values} values`,
      'ask for smaller pages (first, last) or fewer fields',
    );
  }
  if (cost.introspected > LIMITS.INTROSPECTION_COST) {
    throw limitError(
      'INTROSPECTION_COST',
      `The introspection may answer ${cost.introspected} values`,
      'ask for fewer lists inside lists',
    );
  }
  return cost;
}

class Meter {
  #values = 0;
  #introspected = 0;
  #connections = 0;
  readonly #pages = new Map<FieldNode, number>();
  readonly #copies = new Map<string, number>();
  readonly #schema: GraphQLSchema;
  readonly #fragments: ReturnType<typeof fragmentsOf>;
  readonly #operation: OperationDefinitionNode;
  readonly #variables: Variables;
  readonly #defaults: readonly number[];

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    defaults: readonly number[],
  ) {
    this.#schema = schema;
    this.#fragments = fragmentsOf(document);
    this.#operation = operation;
    this.#variables = variables;
    this.#defaults = defaults;
  }

  measure(): Cost {
    const root = this.#schema.getRootType(this.#operation.operation);
    if (root) this.#walk(this.#operation.selectionSet, root, 1, 0, 1);
    return { values: this.#values, introspected: this.#introspected, pages: this.#pages, copies: this.#copies };
  }

  /** @param page entries of the connection whose fields these are */
  #walk(set: SelectionSetNode, parent: GraphQLCompositeType, times: number, level: number, page: number): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) this.#field(selection, parent, times, level, page);
      else {
        const fragment =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value);
        if (!fragment) continue;
        const condition = fragment.typeCondition ? this.#schema.getType(fragment.typeCondition.name.value) : parent;
        this.#walk(fragment.selectionSet, isCompositeType(condition) ? condition : parent, times, level, page);
      }
    }
  }

  #field(node: FieldNode, parent: GraphQLCompositeType, times: number, level: number, page: number): void {
    const field = fieldOf(parent, node.name.value);
    if (!field) return;
    const type = getNamedType(field.type as GraphQLOutputType);
    const introspection = type.name.startsWith('__') || parent.name.startsWith('__');
    if (introspection) this.#introspected += times;
    else this.#count(`${parent.name}.${field.name}`, times);
    if (!node.selectionSet || !isCompositeType(type)) return;
    if (introspection) {
      const entries = isListField(field) ? (INTROSPECTION_LISTS[node.name.value] ?? INTROSPECTION_LIST) : 1;
      this.#walk(node.selectionSet, type, times * entries, level, 1);
    } else if (isConnection(type)) {
      this.#connections += 1;
      if (this.#connections > LIMITS.CONNECTIONS)
        throw limitError('CONNECTIONS', 'The operation opens too many connections');
      this.#walk(node.selectionSet, type, times, level + 1, this.#page(node, level));
    } else {
      this.#walk(node.selectionSet, type, times * (isListField(field) ? page : 1), level, LIST);
    }
  }

  #count(coordinate: string, times: number): void {
    this.#values += times * (WEIGHTS[coordinate] ?? 1);
    this.#copies.set(coordinate, (this.#copies.get(coordinate) ?? 0) + 1);
  }

  #page(node: FieldNode, level: number): number {
    const offset = this.#integer(node, 'offset');
    if (offset !== undefined && (offset < 0 || offset > LIMITS.OFFSET)) {
      throw limitError(
        'OFFSET',
        `${node.name.value}.offset is ${offset}`,
        'it must not be negative; use a cursor to go further',
      );
    }
    const pages: number[] = [];
    for (const name of ['first', 'last']) {
      const size = this.#integer(node, name);
      if (size === undefined) continue;
      if (size < 0) throw new GraphQLError(`${node.name.value}.${name}: must not be negative`, { nodes: node });
      if (size > LIMITS.PAGE)
        throw limitError('PAGE', `${node.name.value}.${name} is ${size}`, 'follow the cursors for more');
      pages.push(size);
    }
    if (pages.length > 0) return Math.max(...pages);
    const usual = this.#defaults[Math.min(level, this.#defaults.length - 1)] ?? 1;
    // A fragment may be spread at several levels; its connection has one page.
    const page = Math.min(usual, this.#pages.get(node) ?? usual);
    this.#pages.set(node, page);
    return page;
  }

  #integer(node: FieldNode, name: string): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    const given = value && this.#resolve(value);
    // What is no integer is refused by the coercion of variables, before anything is executed.
    return typeof given === 'number' && Number.isInteger(given) ? given : undefined;
  }

  #resolve(value: ValueNode): unknown {
    if (value.kind === Kind.INT) return Number(value.value);
    if (value.kind !== Kind.VARIABLE) return undefined;
    const name = value.name.value;
    if (Object.hasOwn(this.#variables, name)) return this.#variables[name];
    const otherwise = this.#operation.variableDefinitions?.find(
      (definition) => definition.variable.name.value === name,
    )?.defaultValue;
    return otherwise?.kind === Kind.INT ? Number(otherwise.value) : undefined;
  }
}

function fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === '__typename') return TypeNameMetaFieldDef;
  if (name === '__schema') return SchemaMetaFieldDef;
  if (name === '__type') return TypeMetaFieldDef;
  return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
}

/** Connections of the cursor-connection specification: their name ends so, and they have page information. */
function isConnection(type: GraphQLCompositeType): boolean {
  return type.name.endsWith('Connection') && isObjectType(type) && 'pageInfo' in type.getFields();
}

function isListField(field: GraphQLField<unknown, unknown>): boolean {
  return String(field.type).startsWith('[');
}

import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  GraphQLError,
  type GraphQLField,
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
 * Entries of a page without `first` and `last`, by the number of connections around it (none, one, two or more). The first line that keeps
 * the operation within COST is used, so a plain query is always answered.
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

/** Estimated entries of lists in the schema's description. */
const INTROSPECTION_LISTS: Readonly<Record<string, number>> = {
  types: 40,
  fields: 8,
  inputFields: 8,
  args: 4,
  enumValues: 8,
  directives: 5,
  locations: 5,
};
/** The estimate for every other list. */
const INTROSPECTION_LIST = 2;

/** Estimated entries of a list that is not a connection: extra headers, of which there are at most five. */
const LIST = 5;
/** Fields that count as more than one value, because they may have up to 2,048 characters. */
const WEIGHTS: Readonly<Record<string, number>> = { 'Subscription.url': 10 };

export interface Cost {
  values: number;
  introspected: number;
  /** The page size of each connection that does not give one. */
  pages: ReadonlyMap<FieldNode, number>;
  /** How often the operation names each field (`Type.field`), with fragments resolved. */
  copies: ReadonlyMap<string, number>;
}

/** The operation to be executed, with its variables. */
export interface CostRequest {
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>>;
}

interface MeterInput extends CostRequest {
  fragments: ReturnType<typeof fragmentsOf>;
  /** A line of DEFAULT_PAGES. */
  defaultPages: readonly number[];
}

/** The place of a selection: how often it is answered, how many connections are around it, and the entries of the list that has these fields. */
interface Place {
  times: number;
  level: number;
  page: number;
}

/**
 * Calculates the largest possible answer of an operation: the values of all its fields, multiplied by the pages around them. Also the page
 * size of every connection that does not give one.
 * @param document valid against the schema and within the limits of document.ts
 * @throws GraphQLError of the limit that is exceeded
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, request: CostRequest): Cost {
  const fragments = fragmentsOf(document);
  let cost: Cost | undefined;
  for (const defaultPages of DEFAULT_PAGES) {
    cost = new Meter(schema, { ...request, fragments, defaultPages }).measure();
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
  readonly #input: MeterInput;

  constructor(schema: GraphQLSchema, input: MeterInput) {
    this.#schema = schema;
    this.#input = input;
  }

  measure(): Cost {
    const { operation } = this.#input;
    const root = this.#schema.getRootType(operation.operation);
    if (root) this.#walk(operation.selectionSet, root, { times: 1, level: 0, page: 1 });
    return { values: this.#values, introspected: this.#introspected, pages: this.#pages, copies: this.#copies };
  }

  #walk(set: SelectionSetNode, parent: GraphQLCompositeType, place: Place): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) this.#field(selection, parent, place);
      else {
        const fragment =
          selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#input.fragments.get(selection.name.value);
        if (!fragment) continue;
        const condition = fragment.typeCondition ? this.#schema.getType(fragment.typeCondition.name.value) : parent;
        this.#walk(fragment.selectionSet, isCompositeType(condition) ? condition : parent, place);
      }
    }
  }

  #field(node: FieldNode, parent: GraphQLCompositeType, { times, level, page }: Place): void {
    const field = fieldOf(parent, node.name.value);
    if (!field) return;
    const type = getNamedType(field.type);
    const introspection = type.name.startsWith('__') || parent.name.startsWith('__');
    if (introspection) this.#introspected += times;
    else this.#count(`${parent.name}.${field.name}`, times);
    if (!node.selectionSet || !isCompositeType(type)) return;
    if (introspection) {
      const entries = isListField(field) ? (INTROSPECTION_LISTS[node.name.value] ?? INTROSPECTION_LIST) : 1;
      this.#walk(node.selectionSet, type, { times: times * entries, level, page: 1 });
    } else if (isConnection(type)) {
      this.#connections += 1;
      if (this.#connections > LIMITS.CONNECTIONS)
        throw limitError('CONNECTIONS', 'The operation opens too many connections');
      this.#walk(node.selectionSet, type, { times, level: level + 1, page: this.#page(node, level) });
    } else {
      const entries = isListField(field) ? page : 1;
      this.#walk(node.selectionSet, type, { times: times * entries, level, page: LIST });
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
    const { defaultPages } = this.#input;
    const usual = defaultPages[Math.min(level, defaultPages.length - 1)] ?? 1;
    // A fragment may be spread at several levels, but its connection has only one page size.
    const page = Math.min(usual, this.#pages.get(node) ?? usual);
    this.#pages.set(node, page);
    return page;
  }

  #integer(node: FieldNode, name: string): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    const size = value && this.#resolve(value);
    // The coercion of variables refuses everything but integers before the operation is executed.
    return typeof size === 'number' && Number.isInteger(size) ? size : undefined;
  }

  #resolve(value: ValueNode): unknown {
    if (value.kind === Kind.INT) return Number(value.value);
    if (value.kind !== Kind.VARIABLE) return undefined;
    const name = value.name.value;
    const { operation, variables } = this.#input;
    if (Object.hasOwn(variables, name)) return variables[name];
    const otherwise = operation.variableDefinitions?.find(
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

/** Whether it is a connection of the cursor-connection specification, judged by the end of its name and its page information. */
function isConnection(type: GraphQLCompositeType): boolean {
  return type.name.endsWith('Connection') && isObjectType(type) && 'pageInfo' in type.getFields();
}

function isListField(field: GraphQLField<unknown, unknown>): boolean {
  return String(field.type).startsWith('[');
}

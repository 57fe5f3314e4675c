import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  printSchema,
  specifiedRules,
  validate,
} from 'graphql';
import { makeSchema } from 'postgraphile';
import { execute } from 'postgraphile/grafast';
import { poolOf } from '../../database/cells/pool.ts';
import { first, type Pool } from '../../database/database.ts';
import { BoundedMap } from '../../values/bounded-map.ts';
import type { Problem } from '../../values/errors.ts';
import { type Cost, costOf } from './cost.ts';
import { misspeltDate } from './dates.ts';
import { chooseOperation, readDocument, withPages } from './document.ts';
import { errorList } from './errors.ts';
import { LIMITS, limitError } from './limits.ts';
import { preset } from './preset.ts';
import type { GraphqlCaller, GraphqlRequest } from './request.ts';

/** The number of documents whose parse, validation and plans are kept. Callers mostly send the same few. */
const MAX_DOCUMENTS = 200;
/** The number of ways to page a document whose plans are kept. */
const MAX_PAGINGS = 8;
const MAX_ERRORS = 20;
/** The message of graphql-js for an introspection with circular references. */
const TOO_DEEP = 'Maximum introspection depth exceeded';

/** A request as the caller sends it. */
export interface GraphqlQuery {
  query: string;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
}

interface GraphqlResult<Failure = GraphQLFormattedError> {
  data?: unknown;
  errors?: readonly Failure[];
}

interface Prepared {
  document: DocumentNode;
  /** Copies with page sizes for connections that give none, by these sizes. */
  paged: Map<string, DocumentNode>;
}

/** The schema, and the steps of answering a request: limits, validation, cost, execution. */
export class GraphqlEndpoint {
  readonly schema: GraphQLSchema;
  /** The schema as a document. */
  readonly text: string;
  readonly #resolvedPreset: GraphileConfig.ResolvedPreset;
  readonly #documents = new BoundedMap<string, Prepared>(MAX_DOCUMENTS);

  private constructor(schema: GraphQLSchema, resolvedPreset: GraphileConfig.ResolvedPreset) {
    this.schema = schema;
    this.text = `${printSchema(schema)}\n`;
    this.#resolvedPreset = resolvedPreset;
  }

  /** Reads the tables and builds their schema. */
  static async create(pool: Pool): Promise<GraphqlEndpoint> {
    const tables = first(await poolOf(pool, 0).query<{ schema: string }>('select current_schema() as schema'));
    const { schema, resolvedPreset } = await makeSchema(preset(pool, tables?.schema ?? 'public'));
    return new GraphqlEndpoint(schema, resolvedPreset);
  }

  /**
   * Answers an operation. An answer without `data` means that the request was refused before execution. Its document does not parse or
   * validate, it exceeds a limit, or its variables do not have their declared types.
   * @param translate turns a failure of the domain or the database into a Problem
   * @throws Problem integration_error if the service, and not the request, is at fault
   */
  async answer(
    query: GraphqlQuery,
    caller: GraphqlCaller,
    translate: (error: unknown) => Problem,
  ): Promise<GraphqlResult> {
    const { errors, ...result } = await this.#execute(query, caller);
    if (!errors) return result;
    const misspelt = () => {
      const document = this.#prepare(query.query).document;
      const operation = chooseOperation(document, query.operationName);
      return misspeltDate(this.schema, document, { operation, variables: query.variables });
    };
    return { ...result, errors: errorList(errors, translate, misspelt) };
  }

  async #execute(query: GraphqlQuery, caller: GraphqlCaller): Promise<GraphqlResult<GraphQLError>> {
    let document: DocumentNode;
    let operation: OperationDefinitionNode;
    let copies: Cost['copies'];
    try {
      checkVariables(query.variables);
      const prepared = this.#prepare(query.query);
      operation = chooseOperation(prepared.document, query.operationName);
      if (!this.schema.getRootType(operation.operation)) {
        throw new GraphQLError(
          `The schema has no operations of the kind ${operation.operation}; the header X-GraphQL-Event-Stream names a stream of changes`,
        );
      }
      this.#coerce(operation, query.variables);
      const cost = costOf(this.schema, prepared.document, { operation, variables: query.variables });
      copies = cost.copies;
      document = paged(prepared, cost.pages);
    } catch (error) {
      return { errors: refusals(error) };
    }
    const { RESPONSE_BODY_BYTES, RESPONSE_HEADER_BYTES } = LIMITS;
    const request: GraphqlRequest = {
      ...caller,
      textBytes: { RESPONSE_BODY_BYTES, RESPONSE_HEADER_BYTES },
      reading: Promise.resolve(),
      copies,
    };
    const result = await execute({
      schema: this.schema,
      document,
      operationName: operation.name?.value,
      variableValues: query.variables,
      contextValue: { request, withPgClient: request.withPgClient, pgSettings: null },
      resolvedPreset: this.#resolvedPreset,
    });
    if (Symbol.asyncIterator in result) throw new Error('the schema has no operation that answers more than once');
    return result;
  }

  /** Parses and validates a document, unless this has been done before. */
  #prepare(text: string): Prepared {
    const known = this.#documents.get(text);
    if (known) {
      this.#documents.set(text, known);
      return known;
    }
    const document = readDocument(text);
    const errors = validate(this.schema, document, specifiedRules, { maxErrors: MAX_ERRORS });
    if (errors.some((error) => error.message === TOO_DEEP))
      throw limitError('INTROSPECTION_DEPTH', 'The introspection nests lists too deep');
    if (errors.length > 0) throw new Refused(errors);
    const prepared = { document, paged: new BoundedMap<string, DocumentNode>(MAX_PAGINGS) };
    this.#documents.set(text, prepared);
    return prepared;
  }

  #coerce(operation: OperationDefinitionNode, variables: GraphqlQuery['variables']): void {
    const { errors } = getVariableValues(this.schema, operation.variableDefinitions ?? [], variables, {
      maxErrors: MAX_ERRORS,
    });
    if (errors) throw new Refused(errors);
  }
}

/** The document with page sizes for connections that give none. */
function paged(prepared: Prepared, pages: Cost['pages']): DocumentNode {
  const key = [...pages].map(([node, page]) => `${node.loc?.start}=${page}`).join(',');
  let document = prepared.paged.get(key);
  if (!document) {
    document = withPages(prepared.document, pages);
    prepared.paged.set(key, document);
  }
  return document;
}

/** Several reasons for refusing a document. */
class Refused extends Error {
  readonly errors: readonly GraphQLError[];
  constructor(errors: readonly GraphQLError[]) {
    super('refused');
    this.errors = errors;
  }
}

function refusals(error: unknown): readonly GraphQLError[] {
  if (error instanceof Refused) return error.errors;
  if (error instanceof GraphQLError) return [error];
  throw error;
}

function checkVariables(variables: GraphqlQuery['variables']): void {
  let values = 0;
  const walk = (value: unknown, depth: number) => {
    values += 1;
    if (values > LIMITS.VARIABLE_VALUES) throw limitError('VARIABLE_VALUES', 'variables has too many values');
    if (typeof value !== 'object' || value === null) return;
    if (depth > LIMITS.VARIABLE_DEPTH) throw limitError('VARIABLE_DEPTH', 'variables is nested too deep');
    for (const inner of Object.values(value)) walk(inner, depth + 1);
  };
  walk(variables, 0);
}

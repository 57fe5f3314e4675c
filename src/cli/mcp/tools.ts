import type { NewQuote, OperationName } from '../../../sdk/src/index.ts';
import { CommandFailure, reach } from '../failure.ts';
import type { Session } from '../session.ts';

interface Schema {
  type?: string;
  description?: string;
  [keyword: string]: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Described {
  operationId: string;
  description: string;
  parameters?: Parameter[];
  responses: Record<string, { content?: Record<string, unknown> }>;
}

/** A reading operation in the form that an assistant can call. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, Schema>; required: string[]; additionalProperties: false };
  /** @throws LombardError; TypeError if the input cannot be sent */
  call(input: Record<string, unknown>): Promise<unknown>;
}

/** The client API works for one client at a time: the session's. */
const GIVEN = 'client_id';

/** The parts of the description that tools are made from. */
interface Description {
  paths: Record<string, { get?: Described }>;
  components: { schemas: { QuoteOrder: Pick<Tool['inputSchema'], 'properties' | 'required'> } };
}

/**
 * The reading operations of the client API, made from its own description: GET, with a JSON answer that is not a stream, and the estimate.
 * @throws CommandFailure if the description cannot be read
 */
export async function readingTools(session: Session): Promise<Tool[]> {
  const answer = await reach(`${session.profile.api_url}/openapi.json`);
  if (!answer.ok) throw new CommandFailure(`the description of the client API cannot be read (${answer.status})`);
  const { paths, components } = (await answer.json()) as Description;
  const tools = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.responses['200']?.content?.['application/json'] ? [toolOf(session, path, get)] : [],
  );
  return [...tools, estimateTool(session, components.schemas.QuoteOrder), subscriptionsTool(session)];
}

function toolOf({ lombard }: Session, path: string, { operationId, description, parameters = [] }: Described): Tool {
  const own = parameters.filter(({ name, in: place }) => place !== 'header' && name !== GIVEN);
  const properties = own.map(({ name, description: text, schema }) => [name, { ...schema, description: text ?? '' }]);
  return {
    name: operationId,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: own.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    call: async (input) => {
      const pick = (place: string) =>
        Object.fromEntries(
          own.filter((each) => each.in === place && each.name in input).map(({ name }) => [name, input[name]]),
        );
      const wanted = { path: pick('path'), query: pick('query') };
      return (await lombard.call(`GET ${path}` as OperationName, wanted as never)).body;
    },
  };
}

/** The estimate changes nothing, although it is a POST. Its input is the body. */
function estimateTool(
  { lombard }: Session,
  { properties, required }: Description['components']['schemas']['QuoteOrder'],
): Tool {
  return {
    name: 'estimateQuote',
    description: 'Says what an exchange would cost now. An estimate promises nothing, and nothing is booked.',
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    call: (input) => lombard.quotes.estimate(input as unknown as NewQuote),
  };
}

/** Subscriptions are read over GraphQL. An assistant does not get their secrets or the values of their headers. */
function subscriptionsTool({ lombard }: Session): Tool {
  return {
    name: 'listSubscriptions',
    description: "List the client's webhook subscriptions, without their secrets.",
    inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    call: async () =>
      (await lombard.subscriptions.list()).map(({ secret: _secret, extraHeaders, ...shown }) => ({
        ...shown,
        extraHeaders: extraHeaders.map(({ name }) => name),
      })),
  };
}

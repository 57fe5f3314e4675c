import { type Api, type CallOptions, type GraphqlError, graphqlRefusal } from './api.ts';

/** Matches a document with one operation that changes nothing. */
const QUERY = /^[\s,]*(\{|query\b)/;

/** Whether an error in a GraphQL answer does not fail the call. */
export type Tolerated = (error: GraphqlError) => boolean;

/**
 * Sends one request to the GraphQL endpoint.
 * @returns its `data`
 * @throws LombardError for the first of its `errors` that is not tolerated
 */
export async function graphql<T>(
  api: Api,
  query: string,
  variables: Record<string, unknown>,
  { signal, tolerated = () => false }: CallOptions & { tolerated?: Tolerated } = {},
): Promise<T> {
  const input = { body: { query, variables }, signal };
  const answer = await api.call('POST /webhooks/graphql', input, QUERY.test(query));
  const { data, errors = [] } = answer.body as { data: T; errors?: GraphqlError[] };
  const failed = errors.find((error) => !tolerated(error));
  if (failed) throw graphqlRefusal(answer, failed);
  return data;
}

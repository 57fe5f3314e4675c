/** The parts of an OpenAPI document that a collection needs. */
interface Operation {
  operationId: string;
  summary: string;
  tags?: string[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; example?: unknown }[];
  requestBody?: { content?: Record<string, Body> };
}
interface Body {
  schema?: { $ref?: string; examples?: unknown[] };
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Document {
  info: { title: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { examples?: unknown[] }> };
}

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
/** The client of the sandbox's demonstration. */
const CLIENT_ID = 'CLI000001';

/**
 * The client API as a collection for Postman, Bruno or Insomnia (Collection Format 2.1.0). It is made from the description: a request for
 * each operation, in a folder for each tag.
 * @param document the OpenAPI document that the listener serves
 */
export function collectionOf(document: object, addresses: { api: string; auth: string }): object {
  const { info, paths, components } = document as Document;
  const folders = new Map<string, object[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const [tag = 'more'] = operation.tags ?? [];
      folders.set(tag, [...(folders.get(tag) ?? []), requestOf(components, method, path, operation)]);
    }
  const text = (key: string, value: string) => ({ key, value, type: 'string' });
  return {
    info: { name: info.title, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [text('token', '{{accessToken}}')] },
    variable: [
      text('baseUrl', addresses.api),
      text('authUrl', addresses.auth),
      text('clientId', CLIENT_ID),
      text('accessToken', ''),
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

function requestOf(
  components: Document['components'],
  method: string,
  path: string,
  { operationId, summary, parameters = [], requestBody }: Operation,
): object {
  const of = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const query = of('query').map(({ name, required, description = '', example }) => ({
    key: name,
    value: name === 'client_id' ? '{{clientId}}' : String(example ?? ''),
    description,
    disabled: !required && name !== 'client_id',
  }));
  const shown = query.filter(({ disabled }) => !disabled).map(({ key, value }) => `${key}=${value}`);
  const segments = path
    .replace(/\{(\w+)\}/g, ':$1')
    .split('/')
    .slice(1);
  const body = requestBody?.content?.['application/json'];
  const example = body && exampleOf(components, body);
  return {
    name: operationId,
    request: {
      method: method.toUpperCase(),
      description: summary,
      header: body ? [{ key: 'Content-Type', value: 'application/json' }] : [],
      url: {
        raw: `{{baseUrl}}/${segments.join('/')}${shown.length > 0 ? `?${shown.join('&')}` : ''}`,
        host: ['{{baseUrl}}'],
        path: segments,
        query,
        variable: of('path').map(({ name, example: value }) => ({ key: name, value: String(value ?? '') })),
      },
      ...(body && {
        body: { mode: 'raw', raw: JSON.stringify(example, null, 2), options: { raw: { language: 'json' } } },
      }),
    },
  };
}

/** The example of a body, from the operation itself or from its schema. */
function exampleOf({ schemas }: Document['components'], { schema, example, examples }: Body): unknown {
  const named = schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
  return example ?? Object.values(examples ?? {})[0]?.value ?? named?.examples?.[0] ?? {};
}

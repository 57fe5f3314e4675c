type Json = Record<string, unknown>;
type Responses = Record<string, { headers?: Json }>;

export interface DescribedOperation extends Json {
  responses: Responses;
  parameters?: Json[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: { 'x-optional'?: true } }> };
  security?: unknown[];
  tags?: string[];
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;
const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

/** Headers that any operation's answers can have, as components. */
export const HEADERS = {
  'x-request-id': text('Identifies the request in logs and in the audit trail', '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11'),
  RateLimit: text('Requests left in this window, and seconds until the next one', '"api";r=499;t=60'),
  'RateLimit-Policy': text('Requests that a window allows, and its seconds', '"api";q=500;w=60'),
  'Retry-After': {
    description: 'Seconds to wait before the next request',
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'WWW-Authenticate': text('The challenge of RFC 6750, section 3', 'Bearer realm="lombard", error="invalid_token"'),
};

/** The headers that a document refers to. */
export function usedHeaders(document: object): Record<string, object> {
  const text = JSON.stringify(document);
  return Object.fromEntries(
    Object.entries(HEADERS).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
}

/** Each operation of a document with its method and path. */
export function* operationsOf(document: { paths?: Json }): Generator<[string, string, DescribedOperation]> {
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = (item as Record<string, DescribedOperation>)[method];
      if (operation) yield [method, path, operation];
    }
  }
}

/** Adds the headers that every answer has, those of rate limits if `limited`, and those of 401 and 429. */
export function addHeaders(operation: DescribedOperation, limited: boolean): void {
  for (const [status, response] of Object.entries(operation.responses)) {
    const names = ['x-request-id'];
    if (limited && status !== '401') names.push('RateLimit', 'RateLimit-Policy');
    if (status === '401') names.push('WWW-Authenticate');
    if (status === '429') names.push('Retry-After');
    response.headers = {
      ...response.headers,
      ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    };
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Where what the route creates can be read, with fields of its answer in braces: `/payments/{payment_id}`. A 201 names that address
     * in its header Location (RFC 9110, 10.2.2), and the description says so.
     */
    location?: string;
  }
}

/** The header Location of an answer, for its description. */
export function locationHeader(description: string, example?: string): object {
  return { Location: { type: 'string', format: 'uri-reference', description, ...(example && { example }) } };
}

/**
 * The address of what was made.
 * @param template a route's `location`
 * @param made the answer's body, as JSON
 */
export function locationOf(template: string, made: string): string {
  const fields = JSON.parse(made) as Record<string, unknown>;
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields[name])));
}

import type { FastifyRequest } from 'fastify';

/** Whether a caller gets a page: a browser that shows what it receives. A program that asks for nothing in particular gets JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? '';
  if (wantsCode(request) || /application\/json/.test(accept)) return false;
  return /text\/html/.test(accept) || request.method === 'GET';
}

/** Whether a caller gets the code in a JSON body instead of a redirect (the service interface, POST /authenticate). */
export function wantsCode(request: FastifyRequest): boolean {
  return (
    String(request.headers['no-redirect'] ?? '')
      .trim()
      .toLowerCase() === 'application/json'
  );
}

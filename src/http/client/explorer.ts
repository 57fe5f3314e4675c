import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../values/errors.ts';

const RURU_PATH = '/explorer/ruru/';
/** Allows nothing from other hosts, no script in the page, and no frame around it, because the page holds an access token. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The editor writes its style sheets into the page.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** Files of the page itself. The editor's files come from its package. */
const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/explorer/explorer.js': ['explorer.js', 'text/javascript; charset=utf-8'],
  '/explorer/explorer.css': ['explorer.css', 'text/css; charset=utf-8'],
} as const;

/** The interactive query explorer at the root (service interface, POST /webhooks/graphql). It works with a token that is pasted in. */
export function explorerRoutes(app: FastifyInstance): void {
  const open = { config: { open: true }, schema: { hide: true } };
  for (const [path, [name, type]] of Object.entries(FILES)) {
    const content = readFileSync(new URL(`./explorer/${name}`, import.meta.url));
    app.get(path, open, (_request, reply) => reply.headers(PAGE_HEADERS).type(type).send(content));
  }
  app.get(`${RURU_PATH}*`, open, async (request, reply) => {
    const { getStaticFile } = await import('postgraphile/grafserv/ruru/static');
    const file = await getStaticFile({
      staticPath: RURU_PATH,
      urlPath: request.url,
      acceptEncoding: request.headers['accept-encoding'],
      disallowDevAssets: true,
    });
    if (!file) throw new Problem('not_found', 'path: is not a file of the explorer');
    if (request.headers['if-none-match'] === file.headers.etag) return reply.code(304).send();
    return reply.headers({ ...PAGE_HEADERS, ...file.headers }).send(file.content);
  });
}

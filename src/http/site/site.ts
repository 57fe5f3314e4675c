import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Addresses, Context } from '../../context.ts';
import type { Config } from '../../settings/config.ts';
import { Problem } from '../../values/errors.ts';
import type { Audience } from './audience.ts';
import { collectionOf } from './collection.ts';
import { SitePages } from './pages.ts';
import { layOut, layOutMissing, llmsText, sectionsOf } from './rendering.ts';

/** Allows nothing from other hosts, and no script in the page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
const CACHE_CONTROL = 'public, max-age=300';

const asset = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), 'utf8');

/** The documentation: pages at /docs/{page}, their Markdown at /docs/{page}.md, a search, and llms.txt. */
export function siteRoutes(audience: Audience): (app: FastifyInstance, context: Context) => void {
  return (app, context) => serveSite(app, context, audience);
}

function serveSite(app: FastifyInstance, { addresses, config }: Context, audience: Audience): void {
  const pages = new SitePages(audience, (markdown) => withAddresses(markdown, addresses, config));
  const open = { config: { open: true }, schema: { hide: true } };
  const send = (reply: FastifyReply, type: string, content: string) =>
    reply
      .headers({ 'content-security-policy': CONTENT_SECURITY_POLICY, 'cache-control': CACHE_CONTROL })
      .type(`${type}; charset=utf-8`)
      .send(content);
  const llms = async (_request: unknown, reply: FastifyReply) =>
    send(reply, 'text/plain', await llmsText(pages, audience.address(addresses)));

  app.get('/docs/site.js', open, (_request, reply) => send(reply, 'text/javascript', asset('site.js')));
  app.get('/docs/site.css', open, (_request, reply) => send(reply, 'text/css', asset('site.css')));
  app.get('/llms.txt', open, llms);
  app.get('/docs/llms.txt', open, llms);
  app.get('/docs/search.json', open, async (_request, reply) => {
    const sections = [...(await pages.all()).values()].flatMap(sectionsOf);
    return send(reply, 'application/json', JSON.stringify(sections));
  });
  if (audience.collection)
    app.get('/docs/collection.json', open, (_request, reply) =>
      send(reply, 'application/json', JSON.stringify(collectionOf(app.swagger(), addresses), null, 2)),
    );
  const missing = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('vary', 'accept');
    // A browser names HTML. A program accepts anything, and gets the same answer as everywhere else.
    if (!request.headers.accept?.includes('text/html'))
      throw new Problem('not_found', 'path: is not a page of the documentation');
    const page = await layOutMissing(pages, config.institution.name);
    return send(reply.code(404), 'text/html', page).header('cache-control', 'no-store');
  };
  app.get<{ Params: { page: string } }>('/docs/:page', open, async (request, reply) => {
    const { params } = request;
    const name = params.page.replace(/\.md$/, '');
    const page = (await pages.all()).get(name);
    if (!page) return missing(request, reply);
    if (params.page !== name) return send(reply, 'text/markdown', page.markdown);
    return send(reply, 'text/html', await layOut(pages, page, config.institution.name));
  });
  app.get<{ Params: { picture: string } }>('/docs/pictures/:picture', open, async (request, reply) => {
    const picture = await pages.picture(request.params.picture);
    if (!picture) return missing(request, reply);
    return reply.header('cache-control', CACHE_CONTROL).type('image/webp').send(picture);
  });
  app.get('/docs/*', open, missing);
}

/** The addresses that the pages are written with: those of a sandbox with the default ports. */
const WRITTEN = /\bhttps?:\/\/127\.0\.0\.1:(8080|8081|8443|8090|8091|3000)(?!\d)/g;

/** A page with the addresses that are in use, so that its commands work as shown. Readers in production see only public addresses. */
function withAddresses(
  markdown: string,
  { api, auth, trusted, operator, health }: Addresses,
  { environment, samplePort }: Config,
): string {
  const sample = samplePort === undefined ? undefined : `http://127.0.0.1:${samplePort}`;
  const inside = environment === 'sandbox' ? { 8090: operator, 8091: health, 3000: sample } : {};
  const used: Record<string, string | undefined> = { 8080: api, 8081: auth, 8443: trusted, ...inside };
  return markdown.replace(WRITTEN, (written, port: string) => used[port] ?? written);
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Config } from '../../settings/config.ts';
import { randomToken } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import type { Language } from '../../values/language.ts';
import { type BuiltPages, findBuiltPages, type PageFiles } from './built-pages.ts';
import { brandColours } from './contrast.ts';
import { Html, html } from './html.ts';
import { type InstitutionAsset, initialOf, institutionIcon, institutionLogo } from './institution-assets.ts';

const ASSET_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'accept-encoding',
  'cross-origin-resource-policy': 'same-origin',
  // A file that is opened on its own runs nothing.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};
/** An institution's drawing may contain styles, and nothing else. */
const DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";
const NOT_BUILT = 'The pages are not built. Run `npm run pages`, and start the service again.';

/** Options of one of the two browser applications. */
export interface PageApplicationOptions {
  /** The path of its pages: `/app` or `/console`. */
  prefix: string;
  /** Its entry file in pages/. */
  source: string;
  /** The public address of its listener, if it is configured. */
  address: string | undefined;
}

/** Serves an application of pages/: its assets, and the document that loads them. Both listeners use it. */
export class PageApplication {
  readonly #config: Config;
  readonly #options: PageApplicationOptions;
  readonly #pages: BuiltPages | undefined;
  /** The files of pages that were sent before, by page and language. */
  readonly #files = new Map<string, PageFiles>();
  readonly #logo: InstitutionAsset | undefined;
  readonly #icon: InstitutionAsset;
  readonly #style: string;

  constructor(config: Config, options: PageApplicationOptions) {
    this.#config = config;
    this.#options = options;
    this.#pages = findBuiltPages();
    this.#logo = institutionLogo(config);
    this.#icon = institutionIcon(config);
    const colours = brandColours(config.institution.colour);
    const pair = (onLight: string, onDark: string) => `light-dark(${onLight},${onDark})`;
    const brand = `--brand:${pair(colours.brand, colours.brandOnDark)};--on-brand:${pair(colours.onBrand, colours.onBrandOnDark)}`;
    const edge = `--brand-edge:${pair(colours.edgeOnLight, colours.brandOnDark)}`;
    this.#style = `:root{${brand};${edge};--accent:${pair(colours.accentOnLight, colours.accentOnDark)}}`;
  }

  /** Serves `{prefix}/assets/...` to anybody, because assets contain no personal data and no data of the institution. */
  assetRoutes(app: FastifyInstance): void {
    const made = new Map(
      [this.#logo, this.#icon].filter((each) => each !== undefined).map((each) => [each.name, each]),
    );
    app.get<{ Params: { '*': string } }>(`${this.#options.prefix}/assets/*`, (request, reply) => {
      const name = request.params['*'];
      const file = made.get(name) ?? this.#pages?.find(name, request.headers['accept-encoding']);
      if (!file) throw new Problem('not_found', 'path: is not a file of the pages');
      if ('encoding' in file && file.encoding) reply.header('content-encoding', file.encoding);
      reply.headers(ASSET_HEADERS);
      if (file === this.#logo && file.type.startsWith('image/svg'))
        reply.header('content-security-policy', DRAWING_POLICY);
      return reply.type(file.type).send(file.content);
    });
  }

  /**
   * Sends the document of a page. It cannot be framed or cached, and loads nothing from other hosts. The bundles draw the rest.
   * @param source the module in pages/ that draws the page
   */
  send(reply: FastifyReply, language: Language, source: string): FastifyReply {
    // React Aria adds a style of its own. The nonce is for that and for the institution's colours.
    const nonce = randomToken();
    reply.type('text/html; charset=utf-8').headers({
      'cache-control': 'no-store',
      'content-security-policy': policy(nonce),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
      vary: 'accept-language, cookie',
    });
    if (this.#options.address?.startsWith('https:')) reply.header('strict-transport-security', 'max-age=63072000');
    if (!this.#pages) return reply.code(503).type('text/plain; charset=utf-8').send(`${NOT_BUILT}\n`);
    return reply.send(this.#document(language, nonce, this.#filesOf(this.#pages, language, source)).text);
  }

  /** The files of a page, all of which the browser requests at once. */
  #filesOf(pages: BuiltPages, language: Language, source: string): PageFiles {
    const key = `${language} ${source}`;
    const texts = [`shared-${language}`, `${this.#options.prefix.slice(1)}-${language}`];
    const files = this.#files.get(key) ?? pages.filesOf(this.#options.source, [source, ...texts]);
    this.#files.set(key, files);
    return files;
  }

  #document(language: Language, nonce: string, files: PageFiles): Html {
    const { institution, environment } = this.#config;
    const at = (file: string) => `${this.#options.prefix}/${file}`;
    const values = {
      institution: institution.name,
      environment,
      ...(this.#logo ? { logo: at(`assets/${this.#logo.name}`) } : {}),
    };
    return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${institution.name}">
<meta name="color-scheme" content="light dark">
<meta property="csp-nonce" nonce="${nonce}">
${Object.entries(values).map(([name, content]) => html`<meta name="lombard:${name}" content="${content}">\n`)}
<title>${institution.name}</title>
<link rel="icon" href="${at(`assets/${this.#icon.name}`)}">
<link rel="stylesheet" href="${at(files.style)}">
<style nonce="${nonce}">${new Html(this.#style)}</style>
<script type="module" src="${at(files.script)}"></script>
${files.imported.map((file) => html`<link rel="modulepreload" href="${at(file)}">\n`)}
</head>
<body>
<div id="root">${this.#mark()}</div>
<noscript>${institution.name}: JavaScript is off. These pages need it.</noscript>
</body>
</html>
`;
  }

  /** What is shown until the bundles have drawn the page: the institution's mark (pages/frame/frame.tsx draws the same). */
  #mark(): Html {
    const { name } = this.#config.institution;
    const mark = this.#logo
      ? html`<img src="${this.#options.prefix}/assets/${this.#logo.name}" alt="${name}">`
      : html`<span class="frame-initial" aria-hidden="true">${initialOf(name)}</span><span class="frame-name">${name}</span>`;
    return html`<div class="frame"><div class="frame-head"><span class="frame-mark">${mark}</span></div></div>`;
  }
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The message at the start if the pages have not been built; undefined if they have. */
export function pagesFault(): string | undefined {
  return findBuiltPages()
    ? undefined
    : 'the pages are not built: /app and /console answer 503 until `npm run pages` has run';
}

import type { FastifyReply } from 'fastify';
import type { Config } from '../../settings/config.ts';
import type { Language } from '../../values/language.ts';
import { Html, html } from './html.ts';
import { initialOf, institutionLogo } from './institution-assets.ts';
import { styleOf } from './style.ts';

/** What a page's policy allows besides its own style. */
export interface Allowed {
  /** The address to which this server redirects after a form of the page was posted. Chrome applies `form-action` to the whole chain of redirects. */
  formTarget?: string | undefined;
}

/** What all plain pages share: the institution's head, one inline style, and a policy. It is created once from the configuration. */
export class PageFrame {
  readonly #institution: string;
  readonly #logo: Html;
  readonly #css: string;
  readonly #policy: string;
  readonly #strictTransport: boolean;

  /** @param address the public address of the listener, if it is configured */
  constructor(config: Config, address: string | undefined) {
    this.#institution = config.institution.name;
    const { css, hash } = styleOf(config.institution.colour);
    this.#css = css;
    // No script runs here, so nothing calls the page's own origin. A tool that audits the page from inside may read robots.txt.
    const loads = `default-src 'none'; style-src '${hash}'; img-src data:; connect-src 'self'`;
    this.#policy = `${loads}; base-uri 'none'; frame-ancestors 'none'`;
    this.#logo = logoOf(config);
    this.#strictTransport = address?.startsWith('https:') ?? false;
  }

  /** Sends a page that cannot be framed or cached, and cannot load anything from elsewhere. */
  send(reply: FastifyReply, status: number, page: Html, { formTarget }: Allowed = {}): FastifyReply {
    const target = formTarget === undefined ? '' : ` ${sourceOf(formTarget)}`;
    reply.code(status).type('text/html; charset=utf-8').header('cache-control', 'no-store');
    reply.header('content-security-policy', `${this.#policy}; form-action 'self'${target}`);
    reply.header('x-frame-options', 'DENY').header('x-content-type-options', 'nosniff');
    // `no-referrer` would make the form's Origin `null`, and the Origin is checked.
    reply.header('referrer-policy', 'same-origin').header('cross-origin-resource-policy', 'same-origin');
    reply.header('permissions-policy', 'camera=(), geolocation=(), microphone=()').header('vary', 'accept-language');
    if (this.#strictTransport) reply.header('strict-transport-security', 'max-age=63072000');
    return reply.send(page.text);
  }

  layout(language: Language, title: string, body: Html, { footer }: { footer?: string } = {}): Html {
    return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${title} - ${this.#institution}">
<meta name="color-scheme" content="light dark">
<title>${title} - ${this.#institution}</title>
<style>${new Html(this.#css)}</style>
</head>
<body>
<header><div class="mark">${this.#logo}</div></header>
<main>
<div class="card">
${body}
</div>
</main>
<footer>${footer}</footer>
</body>
</html>
`;
  }
}

function logoOf(config: Config): Html {
  const { name } = config.institution;
  const logo = institutionLogo(config);
  if (logo) return html`<img src="data:${logo.type};base64,${logo.content.toString('base64')}" alt="${name}">`;
  return html`<span aria-hidden="true">${initialOf(name)}</span>${name}`;
}

/** An address as a source in a content security policy. */
function sourceOf(redirectUri: string): string {
  const { protocol, origin } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

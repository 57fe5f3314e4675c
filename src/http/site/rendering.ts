import { posix } from 'node:path';
import type { Tokens } from 'marked';
import type { SitePage, SitePages } from './pages.ts';
import { gatherTabs, renderTabs } from './tabs.ts';

/** A part of a page under one heading, for the search. */
export interface Section {
  page: string;
  title: string;
  heading: string;
  anchor: string;
  text: string;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Makes anchors in GitHub's form, so that links work in both places. */
function createAnchors(): (heading: string) => string {
  const seen = new Map<string, number>();
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}

/** The page as HTML, without head and navigation. The renderer is loaded for the first page. */
async function renderPage(pages: SitePages, page: SitePage): Promise<string> {
  const { Marked } = await import('marked');
  const anchor = createAnchors();
  let groups = 0;
  const marked = new Marked({
    async: true,
    hooks: { processAllTokens: gatherTabs },
    extensions: [
      {
        name: 'tabs',
        renderer(token) {
          groups += 1;
          return renderTabs(token, `tabs-${groups}`, (block) => this.parser.parse([block]));
        },
      },
    ],
    walkTokens: async (token) => {
      if (token.type === 'link') token.href = await addressOf(pages, page, token.href);
      if (token.type === 'image') token.href = `/docs/pictures/${posix.basename(token.href)}`;
    },
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchor(text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
        const inner = this.parser.parseInline(tokens);
        return `<h${depth} id="${escaped(id)}"><a href="#${escaped(id)}">${inner}</a></h${depth}>\n`;
      },
      code({ lang }: Tokens.Code) {
        return lang === 'mermaid' && page.picture ? `<figure>${page.picture}</figure>\n` : false;
      },
      image({ href, text }: Tokens.Image) {
        return `<img src="${escaped(href)}" alt="${escaped(text)}" loading="lazy">`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        return href === '' ? inner : `<a href="${escaped(href)}">${inner}</a>`;
      },
    },
  });
  return marked.parse(page.markdown, { async: true });
}

/** Where a link leads on the site; empty if the file is not part of it. */
async function addressOf(pages: SitePages, page: SitePage, href: string): Promise<string> {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [file = '', fragment] = href.split('#');
  const linked = await pages.linked(page, file);
  if (!linked) return '';
  return `/docs/${linked.name}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** What the search looks through: each page, cut at its headings. */
export function sectionsOf({ name, title, markdown }: SitePage): Section[] {
  const anchor = createAnchors();
  const sections: Section[] = [];
  let fenced = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const heading = fenced ? undefined : /^#{1,6} +(.+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
      sections.push({ page: name, title, heading: plain, anchor: anchor(plain), text: '' });
    } else {
      const last = sections.at(-1);
      if (last) last.text += `${line.replace(/\]\([^)]*\)/g, ']').replace(/[`*|[\]]/g, ' ')}\n`;
    }
  }
  return sections.map((section) => ({ ...section, text: section.text.replace(/\s+/g, ' ').trim() }));
}

/** The whole page: navigation, search, and the text. */
export async function layOut(pages: SitePages, current: SitePage, institution: string): Promise<string> {
  const markdown = `/docs/${current.name}.md`;
  return documentOf(pages, {
    institution,
    title: current.title,
    head: `<link rel="alternate" type="text/markdown" href="${markdown}">`,
    name: current.name,
    main: `${await renderPage(pages, current)}<p><a href="${markdown}">This page as Markdown</a></p>`,
  });
}

/** The page for a link to a page that does not exist. It leads to those that do. */
export function layOutMissing(pages: SitePages, institution: string): Promise<string> {
  const title = 'This page does not exist';
  const main = `<h1>${title}</h1><p>Search above, or go to the <a href="/docs/readme">first page</a> of the documentation.</p>`;
  return documentOf(pages, { institution, title, main });
}

/** @param parts `name` of the page, which the navigation marks; `head`: further elements of the head */
async function documentOf(
  pages: SitePages,
  parts: { institution: string; title: string; main: string; name?: string; head?: string },
): Promise<string> {
  const groups = await pages.groups();
  const list = groups.map(({ title, pages: members }) => {
    const links = members.map(({ name, title: label }) => {
      const here = name === parts.name ? ' aria-current="page"' : '';
      return `<li><a href="/docs/${name}"${here}>${escaped(label)}</a></li>`;
    });
    return `<h2>${escaped(title)}</h2><ul>${links.join('')}</ul>`;
  });
  const further = pages.audience.links.map(({ title, path }) => ` <a href="${path}">${escaped(title)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(parts.title)} - ${escaped(parts.institution)}</title>
<link rel="stylesheet" href="/docs/site.css">${parts.head ?? ''}
<script src="/docs/site.js" defer></script></head>
<body><header><a href="#pages" class="to-pages">Pages</a> <a href="/docs/readme">Documentation</a> <a href="/docs">API reference</a>${further.join('')}
<form role="search" id="search"><input type="search" name="q" placeholder="Search" aria-label="Search the documentation" autocomplete="off">
<ol id="results" hidden></ol></form></header>
<nav id="pages" aria-label="Pages">${list.join('')}</nav>
<main>${parts.main}</main></body></html>
`;
}

/** llms.txt (llmstxt.org): a list of the pages for programs. */
export async function llmsText(pages: SitePages, address: string): Promise<string> {
  const readme = (await pages.all()).get('readme');
  const groups = (await pages.groups()).map(({ title, pages: members }) => {
    const lines = members.map(
      ({ name, title: label, summary }) => `- [${label}](${address}/docs/${name}.md)${summary && `: ${summary}`}`,
    );
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const reference = `## API\n\n- [OpenAPI 3.1](${address}/openapi.json): ${pages.audience.api}\n`;
  return [`# ${readme?.title ?? 'Lombard'}\n`, `> ${readme?.summary ?? ''}\n`, reference, ...groups].join('\n');
}

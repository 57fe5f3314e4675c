import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Audience } from './audience.ts';

/** A page of the documentation. */
export interface SitePage {
  /** Its name in addresses: `/docs/<name>` and `/docs/<name>.md`. */
  name: string;
  /** Its file, from the root of the checkout. */
  path: string;
  title: string;
  /** Its first paragraph on one line, including a list that ends it. */
  summary: string;
  markdown: string;
  /** Its diagram as SVG. The Markdown contains the diagram as Mermaid. */
  picture: string | undefined;
}

/** Pages for a group of readers, in the order of the README. */
interface Group {
  title: string;
  pages: SitePage[];
}

const ROOT = new URL('../../../', import.meta.url);
const PICTURES = new URL('docs/pictures/', ROOT);
/** Pages outside docs/, by their name on the site. */
const ELSEWHERE: Record<string, string> = {
  readme: 'README.md',
  sdk: 'sdk/README.md',
  security: 'SECURITY.md',
  architecture: 'ARCHITECTURE.md',
  contributing: 'CONTRIBUTING.md',
  changelog: 'CHANGELOG.md',
};

/** The Markdown pages of the checkout. They are read at the first request for one of them, so they do not slow the start. */
export class SitePages {
  readonly audience: Audience;
  readonly #rewrite: (markdown: string) => string;
  #read: Promise<Map<string, SitePage>> | undefined;
  #pictures: Promise<string[]> | undefined;

  /** @param rewrite changes the text of a page before it is processed */
  constructor(audience: Audience, rewrite: (markdown: string) => string) {
    this.audience = audience;
    this.#rewrite = rewrite;
  }

  /** All pages by name. */
  all(): Promise<Map<string, SitePage>> {
    this.#read ??= readPages(this.#rewrite);
    return this.#read;
  }

  /** The pages in the order of the README's table, with its readers' row first. The last group contains pages that only other pages link to. */
  async groups(): Promise<Group[]> {
    const pages = await this.all();
    const byPath = new Map([...pages.values()].map((page) => [page.path, page]));
    const rows = [...(pages.get('readme')?.markdown.matchAll(/^\| ([^|]+) \| (\[.*) \|$/gm) ?? [])].sort(
      ([, a], [, b]) => Number(b === this.audience.first) - Number(a === this.audience.first),
    );
    const listed = new Set<SitePage>();
    const groups = rows.map(([, title = '', links = '']) => {
      const found = [...links.matchAll(/\]\(([^)#]+\.md)\)/g)].flatMap(([, path = '']) => byPath.get(path) ?? []);
      const fresh = found.filter((page) => !listed.has(page));
      for (const page of fresh) listed.add(page);
      return { title: `To ${title}`, pages: fresh };
    });
    return [...groups, { title: 'More', pages: [...pages.values()].filter((page) => !listed.has(page)) }];
  }

  /** A picture of the pages, as WebP (`npm run pictures` makes them); undefined if there is none with this name. */
  async picture(name: string): Promise<Buffer | undefined> {
    this.#pictures ??= readdir(PICTURES).catch(() => []);
    return (await this.#pictures).includes(name) ? readFile(new URL(name, PICTURES)) : undefined;
  }

  /** The page to which a link of another page leads; undefined if it is not a page. */
  async linked(from: SitePage, target: string): Promise<SitePage | undefined> {
    const path = posix.join(posix.dirname(from.path), target);
    return [...(await this.all()).values()].find((page) => page.path === path);
  }
}

async function readPages(rewrite: (markdown: string) => string): Promise<Map<string, SitePage>> {
  const files = { ...ELSEWHERE };
  for (const file of (await readdir(new URL('docs/', ROOT))).filter((each) => each.endsWith('.md')).sort())
    files[file.slice(0, -'.md'.length)] = `docs/${file}`;
  const pages = new Map<string, SitePage>();
  for (const [name, path] of Object.entries(files)) {
    const written = await readFile(new URL(path, ROOT), 'utf8').catch(() => undefined);
    if (written === undefined) continue;
    const markdown = rewrite(written);
    const picture = markdown.includes('```mermaid') ? await readDiagram(name) : undefined;
    pages.set(name, { name, path, markdown, picture, ...headOf(markdown, name) });
  }
  return pages;
}

/** Diagrams are drawn by hand. A test compares each picture with its diagram (test/docs/diagrams.test.ts). */
function readDiagram(name: string): Promise<string | undefined> {
  return readFile(new URL(`docs/diagrams/${name}.svg`, ROOT), 'utf8').catch(() => undefined);
}

function headOf(markdown: string, name: string): { title: string; summary: string } {
  const [, title = name, rest = ''] = /^# (.+)\n([\s\S]*)$/m.exec(markdown) ?? [];
  const [first = '', second = ''] = rest.trim().split(/\n\s*\n/);
  const whole = first.endsWith(':') && second.startsWith('- ') ? `${first} ${second.replace(/^- /gm, '')}` : first;
  const line = whole.replace(/\s+/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return { title, summary: /^[#|`<]/.test(first) ? '' : line.replace(/:$/, '.') };
}

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The checkout, with a slash at its end. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** The first word behind the fence; empty where there is none. */
  language: string;
  /** The other words: `answer` marks the JSON that the command above it answers. */
  marks: string[];
  text: string;
  /** The line of the fence, from 1. */
  line: number;
}

/** A Markdown page of the documentation. */
export interface Page {
  /** Relative to the checkout: `docs/webhooks.md`. */
  path: string;
  text: string;
  blocks: Block[];
  /** The page without its fenced blocks; their lines are empty, so that line numbers hold. */
  prose: string;
}

/** Every Markdown page that a reader of the checkout finds, in the order of their paths. */
export function pages(): Page[] {
  const exclude = (name: string) => name === 'node_modules' || name.startsWith('.') || name === 'data';
  return globSync('**/*.md', { cwd: repository, exclude }).sort().map(page);
}

export function page(path: string): Page {
  const text = readFileSync(repository + path, 'utf8');
  const blocks: Block[] = [];
  let open: Block | undefined;
  const prose = text.split('\n').map((line, index) => {
    const fence = /^\s*```(.*)$/.exec(line);
    if (fence && open) {
      blocks.push(open);
      open = undefined;
    } else if (fence) {
      const [language = '', ...marks] = (fence[1] as string).trim().split(/\s+/);
      open = { language, marks, text: '', line: index + 1 };
    } else if (open) open.text += `${line}\n`;
    else return line;
    return '';
  });
  if (open) throw new Error(`${path}:${open.line}: this block does not end`);
  return { path, text, blocks, prose: prose.join('\n') };
}

/** Languages that a task is shown in beside the shell. */
export const SNIPPETS = ['js', 'python'];

/** The snippets that follow a block at once: the same task in other languages. */
export function snippetsAfter({ blocks }: Page, block: Block): Block[] {
  const found: Block[] = [];
  let last = block;
  for (const next of blocks.slice(blocks.indexOf(block) + 1)) {
    // Its fence, the line that ends it, and an empty line.
    const follows = next.line === last.line + last.text.split('\n').length + 2;
    if (!follows || !SNIPPETS.includes(next.language)) break;
    found.push(next);
    last = next;
  }
  return found;
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(prose: string): Set<string> {
  const seen = new Map<string, number>();
  const made = new Set<string>();
  for (const [, heading = ''] of prose.matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    made.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return made;
}

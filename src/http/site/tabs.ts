import type { Token, Tokens } from 'marked';

/** The languages in which a task is shown, and the names of their tabs. */
const TABS: Record<string, string> = { sh: 'curl', js: 'Node', python: 'Python' };

/** Blocks of code that show one task in several languages. */
interface TabsToken extends Tokens.Generic {
  type: 'tabs';
  blocks: Tokens.Code[];
}

/** Joins consecutive blocks, each in a different language of `TABS`, into one token. */
export function gatherTabs(tokens: Token[]): Token[] {
  const gathered: Token[] = [];
  for (const token of tokens) {
    const [last, gap] = gathered.at(-1)?.type === 'space' ? [gathered.at(-2), 1] : [gathered.at(-1), 0];
    const blocks = blocksOf(last);
    if (!isTab(token) || blocks.length === 0 || blocks.some(({ lang }) => lang === token.lang)) {
      gathered.push(token);
      continue;
    }
    gathered.length -= gap + 1;
    const tabs: TabsToken = { type: 'tabs', raw: `${last?.raw}${token.raw}`, blocks: [...blocks, token] };
    gathered.push(tabs);
  }
  return gathered;
}

function isTab(token: Token | undefined): token is Tokens.Code {
  return token?.type === 'code' && Object.hasOwn(TABS, token.lang);
}

function isTabs(token: Token | undefined): token is TabsToken {
  return token?.type === 'tabs';
}

function blocksOf(token: Token | undefined): Tokens.Code[] {
  if (isTabs(token)) return token.blocks;
  return isTab(token) ? [token] : [];
}

/**
 * Tabs that need no script: radio buttons, of which the checked one shows its block.
 * @param group a name that no other group of the page has
 * @param code renders a block as HTML
 */
export function renderTabs(token: Tokens.Generic, group: string, code: (block: Tokens.Code) => string): string {
  const blocks = blocksOf(token);
  const heads = blocks.map(({ lang = '' }, at) => {
    const id = `${group}-${lang}`;
    const button = `<input type="radio" name="${group}" id="${id}" value="${lang}"${at === 0 ? ' checked' : ''}>`;
    return `${button}<label for="${id}">${TABS[lang]}</label>`;
  });
  return `<div class="tabs">${heads.join('')}${blocks.map(code).join('')}</div>\n`;
}

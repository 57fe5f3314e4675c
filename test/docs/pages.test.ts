import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, test } from 'node:test';
import { STATUS } from '../../src/http/schemas/problem.ts';
import { type ErrorCode, MESSAGES } from '../../src/values/errors.ts';
import { anchors, type Page, page, pages, repository, SNIPPETS, snippetsAfter } from './pages.ts';

/** Languages of fenced blocks. `sh` runs in commands.test.ts; a command that cannot run there is `text`. */
const LANGUAGES = ['sh', 'json', 'text', 'sql', 'ini', 'js', 'python', 'graphql', 'mermaid', 'yaml'];
/** The longest line of prose, in characters. Rows of tables, headings and a link on a line of its own may be longer. */
const MAX_LINE_CHARACTERS = 140;

const all = pages();

/** Line number and text of every match in a page's prose. */
function* found(of: Page, pattern: RegExp): Generator<[string, RegExpMatchArray]> {
  for (const [index, line] of of.prose.split('\n').entries())
    for (const match of line.matchAll(pattern)) yield [`${of.path}:${index + 1}`, match];
}

describe('the pages', () => {
  test('every relative link and its anchor lead somewhere', () => {
    const broken: string[] = [];
    for (const of of all) {
      for (const [where, match] of found(of, /\]\(([^)\s]+)\)/g)) {
        const target = match[1] as string;
        if (/^[a-z]+:/.test(target)) continue;
        const [file, anchor] = target.split('#') as [string, string | undefined];
        const path = file === '' ? of.path : posix.join(posix.dirname(of.path), file);
        if (!existsSync(repository + path)) broken.push(`${where}: ${target}: this file does not exist`);
        else if (anchor !== undefined && !anchors(page(path).prose).has(anchor))
          broken.push(`${where}: ${target}: this heading does not exist`);
      }
    }
    assert.deepEqual(broken, []);
  });

  test('every page of docs is reached from the README', () => {
    const reached = new Set<string>();
    const visit = (path: string) => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const [, match] of found(page(path), /\]\(([^)\s#:]+\.md)[^)]*\)/g))
        visit(posix.join(posix.dirname(path), match[1] as string));
    };
    visit('README.md');
    assert.deepEqual(
      all.map((of) => of.path).filter((path) => /^(docs\/|[^/]+$)/.test(path) && !reached.has(path)),
      [],
    );
  });

  test('every file of the repository that a page names exists', () => {
    const missing: string[] = [];
    for (const of of all)
      for (const [where, match] of found(of, /`((?:src|test|bench|docs|examples|migrations|lint|bin)\/[\w./-]*)`/g))
        if (!existsSync(repository + match[1])) missing.push(`${where}: ${match[1]}`);
    assert.deepEqual(missing, []);
  });

  test('every script and bench that a page names exists', () => {
    const { scripts } = JSON.parse(readFileSync(`${repository}package.json`, 'utf8'));
    const benches = readdirSync(`${repository}bench`);
    const missing: string[] = [];
    for (const of of all) {
      for (const [, name] of of.text.matchAll(/npm run ([\w:-]+)/g))
        if (!scripts[name as string]) missing.push(`${of.path}: ${name}`);
      for (const [, name] of of.text.matchAll(/npm run bench -- ([\w-]+)/g))
        if (!benches.includes(`${name}.ts`)) missing.push(`${of.path}: bench ${name}`);
    }
    assert.deepEqual(missing, []);
  });

  test('the README gives the two commands that a fresh clone needs', () => {
    const { scripts } = JSON.parse(readFileSync(`${repository}package.json`, 'utf8'));
    const commands = page('README.md').blocks.map(({ text }) => text.trim());
    for (const script of ['start', 'test']) {
      assert.ok(scripts[script], script);
      assert.ok(commands.includes(`npm ci && npm ${script}`), script);
    }
  });

  test('every fenced block names its language', () => {
    const strange = all.flatMap((of) =>
      of.blocks
        .filter(({ language }) => !LANGUAGES.includes(language))
        .map(({ language, line }) => `${of.path}:${line}: "${language}"`),
    );
    assert.deepEqual(strange, []);
  });

  test('pages for integrators show each call of a contact for curl, Node and Python', () => {
    const row = /^\| integrate a program \|(.*)$/m.exec(page('README.md').prose)?.[1] ?? '';
    const paths = [...row.matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, path = '']) => path);
    assert.ok(paths.length > 10);
    const alone: string[] = [];
    for (const path of paths) {
      // The tutorial goes one way, with the command line.
      if (path === 'docs/tutorial.md') continue;
      const of = page(path);
      for (const block of of.blocks.filter(({ language }) => language === 'sh')) {
        if (!/\bapi |\$AUTH\/(?!openapi)/.test(block.text) || /^\s*(\w+=\$\()?op /m.test(block.text)) continue;
        const others = snippetsAfter(of, block).map(({ language }) => language);
        if (others.join() !== SNIPPETS.join()) alone.push(`${path}:${block.line}`);
      }
    }
    assert.deepEqual(alone, []);
  });

  test('every JSON example parses', () => {
    for (const of of all)
      for (const { language, line, text } of of.blocks)
        if (language === 'json') assert.doesNotThrow(() => JSON.parse(text), `${of.path}:${line}`);
  });

  test('lines are short enough to read', () => {
    const long = all.flatMap((of) =>
      of.prose
        .split('\n')
        .map((line, index) => ({ line, where: `${of.path}:${index + 1}: ${[...line].length}` }))
        .filter(({ line }) => [...line].length > MAX_LINE_CHARACTERS && !line.trimStart().startsWith('|'))
        .map(({ where }) => where),
    );
    assert.deepEqual(long, []);
  });
});

describe('the lists', () => {
  test('docs/errors.md has every code of the catalogue with its status, cause and cure, and no other', () => {
    const table = page('docs/errors.md').prose.split('| Code | Status')[1]?.split('\n## ')[0] ?? '';
    const rows = [...table.matchAll(/^\| `(\w+)` \| (\d+) \| (.+?) \| (.+?) \|$/gm)];
    assert.deepEqual(rows.map(([, code]) => code).toSorted(), Object.keys(MESSAGES).toSorted());
    for (const [, code, status] of rows) assert.equal(STATUS[code as ErrorCode], Number(status), code);
  });

  test('docs/configuration.md has every variable of the configuration, and no page names another', () => {
    // Those of the tests are no configuration.
    const variable = /\b(?:LOMBARD_(?!TEST_)[A-Z_]*[A-Z]|DATABASE_URL|SMTP_URL)\b/g;
    const known = new Set(
      ['config', 'staff-settings'].flatMap(
        (file) => readFileSync(`${repository}src/settings/${file}.ts`, 'utf8').match(variable) ?? [],
      ),
    );
    const listed = new Set(page('docs/configuration.md').prose.match(variable));
    assert.deepEqual(
      [...known].filter((name) => !listed.has(name)),
      [],
    );
    const strange = all.flatMap((of) =>
      (of.text.match(variable) ?? [])
        .filter((name) => !known.has(name.replace(/_FILE$/, '')))
        .map((name) => `${of.path}: ${name}`),
    );
    assert.deepEqual(strange, []);
  });

  test('SECURITY.md names tests that exist', () => {
    const titles = (file: string) => readFileSync(`${repository}test/${file}.test.ts`, 'utf8');
    const rows = [
      ...page('SECURITY.md').prose.matchAll(
        /^\|.*\| ((?:attacks|sign-in|second-factor|sessions|trusted|console): .*) \|$/gm,
      ),
    ];
    assert.ok(rows.length > 20);
    for (const [, cell = ''] of rows)
      for (const named of cell.split('; ')) {
        const [file = '', words = ''] = named.split(': ');
        const title = titles(['attacks', 'console'].includes(file) ? `http/${file}` : `identity/${file}`);
        assert.ok(
          title.split('\n').some((line) => /\btest\(/.test(line) && line.includes(words)),
          named,
        );
      }
  });
});

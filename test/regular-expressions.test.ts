import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { PATTERNS } from '../src/values/schemas.ts';

/**
 * Every regular expression of the program takes a time that grows as the text does, and not as its square: one of 64 KiB must not hold up
 * the process. Each runs on texts that repeat a character of its alphabet, a pair of them or a whole match, at every place of a text that
 * it matches, with a near miss behind. What is judged is how the processor time of this thread grows from one size to another. A square
 * is thousands of times as slow as anything linear here, so that a busy machine changes no verdict.
 */

/** What everybody may send. */
const LONG = 65_536;
/** The two sizes whose times are compared: eight times the text takes eight times as long, or 64 times if it is its square. */
const SIZES = [1_024, 8_192] as const;
const MAX_GROWTH = 24;
/** A text of 64 KiB that takes less is not measured again: linear ones take a tenth of it, and a square takes seconds. */
const SUSPICIOUS_MS = 4;
const MEASUREMENTS = 5;
const SAMPLES = 2;
const MAX_PLACES = 4;
const MAX_CHARACTERS = 6;
const ROOTS = ['../src/', '../sdk/src/'];
/** What is built at run time, in the forms that it can have. */
const BUILT: Record<string, RegExp[]> = {
  'http/server/unknown-address.ts': [/^\/payments\/[^/]+\/approvals$/, /^\/docs\/static\/.*$/],
  // A person's name, as it stands in texts.
  'erasure/person.ts': [
    /(?<![\p{L}\p{N}]|[\p{L}\p{N}][.+_-])(?:Ada Ashdown|Ada%20Ashdown|Ada\+Ashdown)(?![\p{L}\p{N}])/iu,
  ],
  'database/cells/migrations.ts': [
    /^(?:alter table(?: if exists)?(?: only)?|(?:create (?:unique )?index|grant)\b.*?\bon(?: table)?) "?(\w+)/is,
  ],
  'feed/cursor.ts': [/^\d{20}-[0-9a-f]{8}$/],
};
/** What reads nothing but this project's migrations. */
const OWN_TEXTS: ReadonlySet<string> = new Set(['database/cells/citus-statements.ts']);

interface Found {
  file: string;
  pattern: RegExp;
}

interface Node {
  type?: string;
  [key: string]: unknown;
}

/** Literals, the patterns of JSON schemas (ajv compiles them with `u`), and what is built at run time. */
function expressions(): Found[] {
  const found: Found[] = Object.values(PATTERNS).map((pattern) => ({
    file: 'values/schemas.ts',
    pattern: new RegExp(pattern, 'u'),
  }));
  for (const root of ROOTS) {
    const folder = new URL(root, import.meta.url);
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.[jt]s$/.test(file) || OWN_TEXTS.has(file)) continue;
      const { program, errors } = parseSync(file, readFileSync(new URL(file, folder), 'utf8'));
      assert.deepEqual(errors, [], file);
      for (const pattern of expressionsIn(program as unknown as Node, file)) found.push({ file, pattern });
    }
  }
  return found;
}

function* expressionsIn(node: Node, file: string): Generator<RegExp> {
  const { regex, key, value, callee } = node as {
    regex?: { pattern: string; flags: string };
    key?: { name?: string };
    value?: { value?: unknown };
    callee?: { name?: string };
  };
  if (node.type === 'Literal' && regex) yield new RegExp(regex.pattern, regex.flags.replace(/[gy]/g, ''));
  if (node.type === 'Property' && key?.name === 'pattern' && typeof value?.value === 'string')
    yield new RegExp(value.value, 'u');
  if (callee?.name === 'RegExp' && file !== 'decimal.ts') {
    assert.ok(BUILT[file], `${file} builds expressions: say here which`);
    yield* BUILT[file];
  }
  for (const child of Object.values(node).flat())
    if (typeof child === 'object' && child !== null) yield* expressionsIn(child as Node, file);
}

/** Characters that the expression names, one or two of each class that it uses, and one that it has nothing to do with. */
function alphabet({ source }: RegExp): string[] {
  const classes: [RegExp, string][] = [
    [/\\d|0-9/, '10'],
    [/\\s|\\p\{Z/, ' '],
    [/\\w|a-z|\.|\[\^/, 'a'],
    [/A-Z/, 'A'],
    [/a-f/i, 'e'],
  ];
  const ofClasses = classes.flatMap(([sign, characters]) => (sign.test(source) ? [...characters] : []));
  const escapes = [...source.matchAll(/\\([nrt])/g)].map(([, letter]) => ({ n: '\n', r: '\r', t: '\t' })[letter ?? '']);
  const named = [...source.replace(/\\(?:[pP]\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[a-zA-Z])/gi, '')];
  const plain = named.filter((each) => !/[\^$()[\]{}|?*+]/.test(each));
  return [...new Set([...ofClasses, ...escapes, ...plain] as string[])].slice(0, MAX_CHARACTERS).concat('\u00a7');
}

/**
 * Texts that the expression matches, or nearly: fast-check looks for ever for a character that is not printable ASCII, and knows no
 * lookarounds. For those only what is repeated.
 */
function samples(pattern: RegExp, seed: number): string[] {
  const source = pattern.source.replace(/\[\^(?:\\.|[^\]\\])*\]|\\P?p?\{[^}]*\}/g, '.');
  try {
    return ['', ...fc.sample(fc.stringMatching(new RegExp(source, pattern.flags)), { numRuns: SAMPLES, seed })];
  } catch {
    return ['', ...alphabet(pattern)];
  }
}

/** Milliseconds of this thread that the search takes, without what other processes take meanwhile. */
function timeOf(pattern: RegExp, text: string): number {
  const before = process.threadCpuUsage();
  pattern.test(text);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

function leastTime(pattern: RegExp, text: string): number {
  return Math.min(...Array.from({ length: MEASUREMENTS }, () => timeOf(pattern, text)));
}

/** What is repeated at a place of a text that matches. */
function* slowTexts(pattern: RegExp, seed: number): Generator<[string, (size: number) => string]> {
  const characters = alphabet(pattern);
  const pairs = characters.slice(0, 3).flatMap((one, at) => characters.slice(at + 1, 3).map((other) => one + other));
  for (const sample of samples(pattern, seed)) {
    const step = Math.max(1, Math.ceil(sample.length / MAX_PLACES));
    for (const unit of [...characters, ...pairs, ...(sample === '' ? [] : [sample])]) {
      for (let place = 0; place <= sample.length; place += step) {
        const [before, behind] = [sample.slice(0, place), sample.slice(place)];
        const name = `${JSON.stringify(before)}, then ${JSON.stringify(unit)} again and again`;
        yield [name, (size) => `${before}${unit.repeat(Math.ceil(size / unit.length))}\u0001${behind}`];
      }
    }
  }
}

/** The text that takes as long as the square of its length says; undefined if there is none. @param long of the first look */
function slowText(pattern: RegExp, seed: number, long = LONG): string | undefined {
  for (const [name, text] of slowTexts(pattern, seed)) {
    if (timeOf(pattern, text(long)) < SUSPICIOUS_MS) continue;
    const [small, large] = SIZES.map((size) => leastTime(pattern, text(size))) as [number, number];
    if (large > SUSPICIOUS_MS && large > MAX_GROWTH * small) return name;
  }
  return undefined;
}

test('the measure finds expressions that are not linear', () => {
  const quadratic = [
    /[:[,]\s*-?(?:0(?![.\d])(?<=-0)|\d[\d.]*(?:[eE]|(?<=\.\d*)0(?!\d))|[\d.]{16})/,
    /^(PANIC|FATAL|LOG|WARNING|ERROR):\s+(.*)$/,
    /\s+$/,
    /,.*,$/,
    /(?<!\\)((?:\\\\)*)((?:\\ )?) +$/,
  ];
  for (const pattern of quadratic) assert.ok(slowText(pattern, 1, SIZES[1]), String(pattern));
});

test('every regular expression of the program is linear', () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const all = expressions();
  assert.ok(all.length > 150, `${all.length} expressions were found`);
  const slow = all.flatMap(({ file, pattern }) => {
    const text = slowText(pattern, seed);
    return text === undefined ? [] : [`${file}: ${pattern} is not linear on ${text}`];
  });
  assert.deepEqual(slow, [], `seed ${seed}`);
});

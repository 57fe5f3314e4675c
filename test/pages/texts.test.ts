import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { IntlMessageFormat } from 'intl-messageformat';
import { FAULTS, MESSAGES } from '../../src/values/errors.ts';
import { LANGUAGES } from '../../src/values/language.ts';

/** The texts of the pages: English is the source, and every other language says the same. */

const TEXTS = new URL('../../pages/texts/', import.meta.url);

function textsOf(part: string, language: string): Record<string, string> {
  const folder = new URL(`${part}/${language}/`, TEXTS);
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
  assert.equal(
    Object.keys(Object.assign({}, ...files)).length,
    files.reduce((count, file) => count + Object.keys(file).length, 0),
    `${part}/${language}: a key stands in two files`,
  );
  return Object.assign({}, ...files);
}

type Element = ReturnType<IntlMessageFormat['getAst']>[number];
/** The kinds of elements that name no value: text, and the number of a plural. */
const LITERAL = 0;
const POUND = 7;
/** A number may be shown, or choose a plural: each language as it needs. */
const PLURAL = 6;
const NUMBER = 2;

/** The names in a message, with the kinds of their values: what the page must give. */
function namesOf(elements: Element[]): string[] {
  return elements.flatMap((element) => {
    if (element.type === LITERAL || element.type === POUND) return [];
    const inside = 'options' in element ? Object.values(element.options).flatMap(({ value }) => namesOf(value)) : [];
    const kind = element.type === PLURAL ? NUMBER : element.type;
    return ['value' in element ? `${element.value}: ${kind}` : '', ...inside];
  });
}

const parse = (message: string, language: string) =>
  new IntlMessageFormat(message, language, undefined, { ignoreTag: true }).getAst();

test('every language but that of the service says its refusals: the same ones, with the same values', () => {
  const known = [...Object.keys(MESSAGES), ...Object.keys(FAULTS)].map((code) => `refusal.${code}`);
  const [first, ...others] = LANGUAGES.filter((language) => language !== 'en').map((language) => {
    const texts = Object.entries(textsOf('refusals', language));
    return texts.map(([key, text]) => [key, [...new Set(namesOf(parse(text, language)))].sort()]);
  });
  assert.ok(first && first.length > 30);
  for (const [key] of first) assert.ok(known.includes(String(key)), `no code: ${key}`);
  for (const other of others) assert.deepEqual(other, first);
});

describe('texts', () => {
  for (const part of ['shared', 'app', 'console']) {
    const english = textsOf(part, 'en');
    for (const language of LANGUAGES)
      test(`${part}, ${language}: the keys of English, messages that parse, the same values`, () => {
        const texts = textsOf(part, language);
        assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort());
        for (const [key, text] of Object.entries(texts)) {
          assert.notEqual(text.trim(), '', key);
          const names = (message: string, of: string) => [...new Set(namesOf(parse(message, of)))].sort();
          assert.deepEqual(names(text, language), names(english[key] as string, 'en'), `${language} ${key}`);
        }
      });
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { OpenQuote, readCsv } from '../../src/values/csv.ts';

const cells = (text: string) => [...readCsv(text)].map((row) => row.cells);

test('rows have their cells and the line that they begin on', () => {
  const text = '\ufeffa,"b"\r\n1,"x\n""y"\r\n\r2,\n';
  assert.deepEqual(
    [...readCsv(text)],
    [
      { line: 1, cells: ['a', 'b'], count: 2 },
      { line: 2, cells: ['1', 'x\n"y'], count: 2 },
      { line: 4, cells: [''], count: 1 },
      { line: 5, cells: ['2', ''], count: 2 },
    ],
  );
  assert.deepEqual(cells(''), []);
  assert.deepEqual(cells('a,b"c"'), [['a', 'b"c"']]);
});

test('of a row with millions of cells the first 256 are kept, and all are counted', () => {
  const [long, next] = readCsv(`${','.repeat(2_000_000)}"a\nb"\n1`);
  assert.deepEqual([long?.cells.length, long?.count], [256, 2_000_001]);
  assert.deepEqual(next, { line: 3, cells: ['1'], count: 1 });
});

test('a cell in quotes that does not end with them is told with its line', () => {
  for (const [text, line] of [
    ['a\n"b', 2],
    ['"a"b', 1],
    ['a,"b\n\n"c,d', 1],
  ] as const)
    assert.throws(
      () => cells(text),
      (error) => error instanceof OpenQuote && error.line === line,
      text,
    );
});

test('what is written as CSV is read as it was, and as csv-parse reads it', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é', '\u{1f600}') });
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1 });
  fc.assert(
    fc.property(rows, fc.constantFrom('\n', '\r\n', '\r'), (written, end) => {
      const text = stringify(written, { record_delimiter: end, quoted_match: /[\r\n]/ });
      assert.deepEqual(cells(text), written);
      assert.deepEqual(parse(text, { record_delimiter: end, relax_column_count: true }), written);
    }),
    { verbose: true },
  );
});

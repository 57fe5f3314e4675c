import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { buffer, text as textFrom } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { Renderer } from '../../src/documents/renderer.ts';
import type { AccountStatement, StatementLine, StatementSection } from '../../src/statements/account-statement.ts';
import { statementCamt } from '../../src/statements/camt.ts';
import { CSV_COLUMNS, statementCsv } from '../../src/statements/csv.ts';
import { LINES_ON_FIRST_PAGE, LINES_ON_PAGE, pagesOf, statementPdf } from '../../src/statements/pdf.ts';
import {
  decimalOf,
  exampleStatement,
  institution,
  mixedAmount,
  payment,
  section,
  statement,
} from '../world/documents.ts';
import { validated } from '../world/iso20022.ts';
import { infoOf, misplaced, noPoppler, textOf, wordsOf } from '../world/pdf.ts';

const renderer = new Renderer();
after(() => renderer.stop());

/** Minor units of a decimal string with two places. */
const minorOf = (decimal: string) => BigInt(decimal.replace(/[.,]/g, '').replace('\u2212', '-'));
const rowsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, bom: true, record_delimiter: '\r\n' });
// As bytes, for a decoder would take the byte order mark away.
const csvOf = async (of: AccountStatement) => (await buffer(statementCsv(of))).toString('utf8');
const camtOf = (of: AccountStatement) => textFrom(statementCamt(of, { name: institution.name, bic: 'LOMBGB2L' }));

const amounts = fc.array(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), { maxLength: 60 });
const opening = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
const anyText = fc.string({
  unit: fc.constantFrom(
    'a',
    ' ',
    ',',
    '"',
    "'",
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    ';',
    '<',
    '&',
    ']]>',
    'é',
    'Ж',
    '🚀',
    '\u0000',
    '\ufffe',
    '\ud800',
    '\u202e',
  ),
  maxLength: 300,
});
const texts = fc.record({
  transaction_information: anyText,
  transaction_reference: anyText,
  additional_transaction_information: anyText,
  creditor_name: anyText,
  debtor_name: anyText,
});

describe('csv', () => {
  test('has a header row, CRLF, a byte order mark, and a row for each balance and transaction', async () => {
    const csv = await csvOf(statement(section('GBP', 10_000n, 2, (index) => (index === 0 ? -2_550n : 100_000n))));
    assert.ok(csv.startsWith(`\ufeff${CSV_COLUMNS.join(',')}\r\n`));
    assert.ok(csv.endsWith('\r\n') && !/[^\r]\n/.test(csv));
    const rows = rowsOf(csv);
    assert.deepEqual(
      rows.map(({ entry, booking_date, amount, balance }) => [entry, booking_date, amount, balance]),
      [
        ['opening_balance', '2026-03-01', '', '100.00'],
        ['transaction', '2026-03-01', '-25.50', '74.50'],
        ['transaction', '2026-03-01', '1000.00', '1074.50'],
        ['closing_balance', '2026-03-31', '', '1074.50'],
      ],
    );
    assert.equal(rows[2]!.counterparty_account, 'GB33BUKB20201555555555');
    assert.equal(rows[2]!.currency, 'GBP');
  });

  test('no field starts a formula, and every text comes back', async () => {
    const nasty = [
      '=1+1',
      '+44 20',
      '-5',
      '@cmd',
      '\t=1',
      '\r=1',
      '  =1',
      '\uff1d1',
      'a"b,c\r\nd',
      '"=1"',
      'plain',
      'ref;=1+1',
      '',
    ];
    const csv = await csvOf(
      statement(
        section(
          'GBP',
          0n,
          nasty.length,
          () => -100n,
          (index) => ({ transaction_information: nasty[index]! }),
        ),
      ),
    );
    assert.match(csv, /,"ref;=1\+1",/, 'another delimiter is inside quotes');
    const rows = rowsOf(csv);
    const read = rows.slice(1, -1).map((row) => row.transaction_information!);
    assert.deepEqual(read, [
      "'=1+1",
      "'+44 20",
      "'-5",
      "'@cmd",
      "'\t=1",
      "'\r=1",
      "'  =1",
      "'\uff1d1",
      'a"b,c\r\nd',
      '"=1"',
      'plain',
      'ref;=1+1',
      '',
    ]);
    for (const row of rows.slice(1, -1)) assert.equal(row.amount, '-1.00');
  });

  test('random transactions: balances are an independent sum, no cell is a formula', async () => {
    await fc.assert(
      fc.asyncProperty(opening, amounts, texts, async (start, all, changes) => {
        const rows = rowsOf(
          await csvOf(
            statement(
              section(
                'GBP',
                start,
                all.length,
                (index) => all[index]!,
                () => changes,
              ),
            ),
          ),
        );
        assert.equal(rows.length, all.length + 2);
        let balance = start;
        rows.slice(1, -1).forEach((row, index) => {
          balance += all[index]!;
          assert.equal(row.amount, decimalOf(all[index]!));
          assert.equal(row.balance, decimalOf(balance));
          for (const column of ['transaction_information', 'counterparty_name', 'transaction_reference'])
            assert.ok(!/^\s*[=+\-@]/.test(row[column]!));
        });
        assert.equal(rows.at(-1)!.balance, decimalOf(balance));
      }),
      { numRuns: 100 },
    );
  });

  test('a failing source of lines fails the stream', async () => {
    const broken: StatementSection = {
      ...section('GBP', 0n, 0, () => 0n),
      lines: (async function* (): AsyncGenerator<StatementLine> {
        yield* [];
        throw new Error('the connection is gone');
      })(),
    };
    await assert.rejects(csvOf(statement(broken)), /the connection is gone/);
  });
});

describe('a statement that does not add up', () => {
  const wrong: [string, Partial<StatementSection>, RegExp][] = [
    ['closing balance', { closing: '0.01' }, /account 17: lines end in .*, closing is 0.01/],
    [
      'number of lines',
      { totals: { credit_count: 9, credits: '0.00', debit_count: 9, debits: '0.00' } },
      /account 17: 5 lines where 18 were counted/,
    ],
  ];
  for (const [what, changes, message] of wrong) {
    test(`is refused in every format: ${what}`, async () => {
      const make = () => statement({ ...section('GBP', 0n, 5, mixedAmount), ...changes });
      await assert.rejects(csvOf(make()), message);
      await assert.rejects(camtOf(make()), message);
      await assert.rejects(statementPdf(renderer, make(), institution), message);
    });
  }
});

describe('camt.053.001.08', () => {
  test('is valid, with balances, sums and entries', async () => {
    const xml = await camtOf(
      statement(
        section('GBP', -5_000n, 40, mixedAmount),
        section('EUR', 0n, 0, () => 0n),
      ),
    );
    const all = Array.from({ length: 40 }, (_, index) => mixedAmount(index));
    const credits = all.filter((amount) => amount > 0n).reduce((sum, amount) => sum + amount, 0n);
    const debits = all.filter((amount) => amount < 0n).reduce((sum, amount) => sum - amount, 0n);
    const [balances, signs, sums, entries, ibans] = validated(
      'camt.053.001.08',
      xml,
      '//m:Stmt[1]/m:Bal/m:Amt',
      '//m:Stmt[1]/m:Bal/m:CdtDbtInd',
      '//m:Stmt[1]/m:TxsSummry//m:Sum',
      '//m:Stmt[1]/m:Ntry/m:Amt',
      '//m:Stmt[1]/m:Ntry//m:DbtrAcct/m:Id/m:IBAN',
    );
    const closing = -5_000n + credits - debits;
    assert.deepEqual(balances, ['50.00', decimalOf(closing < 0n ? -closing : closing)]);
    assert.deepEqual(signs, ['DBIT', closing < 0n ? 'DBIT' : 'CRDT']);
    assert.deepEqual(sums, [decimalOf(credits), decimalOf(debits)]);
    assert.deepEqual(
      entries,
      all.map((amount) => decimalOf(amount < 0n ? -amount : amount)),
    );
    assert.equal(ibans!.length, 40);
  });

  test('names a transaction whose id is a UUID by all of it', async () => {
    const id = 'f9ed0256-01c5-47fb-b552-2e53a50ae8da';
    const of = statement(
      section(
        'GBP',
        0n,
        1,
        () => 100n,
        () => ({ transaction_id: id }),
      ),
    );
    const [references] = validated('camt.053.001.08', await camtOf(of), '//m:AcctSvcrRef');
    assert.deepEqual(new Set(references), new Set([id.replaceAll('-', '')]));
  });

  test('stays valid whatever the texts are', async () => {
    const party = {
      account_name: 'x'.repeat(500),
      account_number: '9'.repeat(60),
      bank_identifier: '<20-00-00>',
      bank_identifier_code: 'GBDSC',
      iban: 'not an iban',
      swift: 'nor a bic',
    };
    await fc.assert(
      fc.asyncProperty(opening, amounts, texts, async (start, all, changes) => {
        const of = statement(
          section(
            'GBP',
            start,
            all.length,
            (index) => all[index]!,
            () => ({ ...changes, kind: 'K'.repeat(60), transaction_id: 'T'.repeat(80), creditor_account: party }),
          ),
        );
        of.client = { ...payment.client, client_name: `<&>${'é'.repeat(300)}` };
        const [entries] = validated('camt.053.001.08', await camtOf(of), '//m:Ntry');
        assert.equal(entries!.length, all.length);
      }),
      { numRuns: 60 },
    );
  });
});

describe('pdf', { skip: noPoppler }, () => {
  /** The lines of a table as poppler lays them out: the last figure of a row is its balance. */
  function tableOf(pdf: Buffer) {
    const pages = textOf(pdf, true).split('\f').slice(0, -1);
    return pages.map((page) => {
      const table = page.slice(page.search(/Date\s+Details/));
      const figures = [...table.matchAll(/^.*?\s([\u2212\d][\d,]*\.\d\d)\s*$/gm)].map((match) => ({
        row: match[0],
        balance: minorOf(match[1]!),
      }));
      return { page, figures };
    });
  }

  for (const [count, why] of [
    [0, 'no lines'],
    [LINES_ON_FIRST_PAGE, 'a full first page'],
    [LINES_ON_FIRST_PAGE + 1, 'one more'],
    [1_500, 'drawn in parts'],
  ] as const) {
    test(`${why}: headings, page x of y, and balances that are carried forward`, async () => {
      const part = section('GBP', 1_250_000n, count, mixedAmount);
      const pdf = await statementPdf(renderer, statement(part), institution);
      const pages = tableOf(pdf);
      assert.equal(pages.length, pagesOf(part));
      assert.equal(
        pagesOf(part),
        count <= LINES_ON_FIRST_PAGE ? 1 : 1 + Math.ceil((count - LINES_ON_FIRST_PAGE) / LINES_ON_PAGE),
      );
      let balance = 1_250_000n;
      let index = 0;
      pages.forEach(({ page, figures }, at) => {
        assert.ok(page.includes(`Page ${at + 1} of ${pages.length}`));
        assert.ok(/Date\s+Details\s+Paid out\s+Paid in\s+Balance/.test(page), 'the heading is repeated');
        assert.ok(page.includes(at === 0 ? 'Opening balance' : 'Brought forward'));
        assert.ok(page.includes(at === pages.length - 1 ? 'Closing balance' : 'Carried forward'));
        const [start, ...rows] = figures;
        const end = rows.pop();
        assert.equal(start!.balance, balance);
        for (const { row, balance: printed } of rows) {
          balance += mixedAmount(index);
          index += 1;
          assert.equal(printed, balance, row);
        }
        assert.equal(end!.balance, balance);
      });
      assert.equal(index, count);
      const info = infoOf(pdf);
      assert.equal(info.Title, 'Account statement 2026-03-01 to 2026-03-31');
      assert.equal(info.Author, institution.name);
      assert.equal(info.Tagged, count > 700 ? 'no' : 'yes');
      assert.equal(pdf.includes('/Lang (en-GB)') || count > 700, true);
    });
  }

  test('a period without transactions still gives its balances', async () => {
    const text = textOf(await statementPdf(renderer, statement(section('EUR', 123_456n, 0, () => 0n)), institution));
    assert.ok(text.includes('No transactions were booked in this period.'));
    assert.equal(text.split('1,234.56').length - 1, 4, 'twice in the summary and twice in the table');
  });

  test('each currency begins on a page of its own', async () => {
    const pdf = await statementPdf(renderer, exampleStatement(), institution);
    const pages = textOf(pdf).split('\f');
    assert.ok(
      pages[0]!.includes('GBP (British Pound)') &&
        pages[2]!.includes('EUR (Euro)') &&
        pages[2]!.includes('Page 3 of 3'),
    );
  });

  test('names of 500 characters and amounts of 10^17 stay in their columns', async () => {
    const long = `<b>#x</b> שלום الشركة 🚀 ${'Ω'.repeat(100)} ${'W'.repeat(350)}`;
    const of = statement(
      section(
        'GBP',
        0n,
        90,
        (index) => (index % 2 ? -(10n ** 17n) : 10n ** 17n + 12n),
        () => ({
          creditor_name: long,
          debtor_name: long,
          transaction_reference: long,
          transaction_information: long,
        }),
      ),
    );
    of.client = { client_id: 'C'.repeat(128), client_name: long, account_number: '9'.repeat(300) };
    const house = {
      ...institution,
      name: long,
      logo: undefined,
      address: Array.from({ length: 9 }, () => long.slice(0, 60)),
    };
    for (const by of [institution, house]) {
      const again = {
        ...of,
        sections: of.sections.map((each) => ({
          ...each,
          ...section(
            'GBP',
            0n,
            90,
            (index) => (index % 2 ? -(10n ** 17n) : 10n ** 17n + 12n),
            () => ({ creditor_name: long, debtor_name: long, transaction_reference: long }),
          ),
        })),
      };
      const pdf = await statementPdf(renderer, again, by);
      assert.deepEqual(misplaced(wordsOf(pdf)), []);
      const text = textOf(pdf);
      assert.ok(text.includes('…') && text.includes('1,000,000,000,000,000.12'));
      assert.equal(Number(infoOf(pdf).Pages), pagesOf(again.sections[0]!));
    }
  });
});

test('the example files are what is written today (UPDATE_EXAMPLES=1 writes them anew)', async () => {
  const examples: [string, string][] = [
    ['account-statement.csv', await csvOf(exampleStatement())],
    ['account-statement.camt.053.xml', await camtOf(exampleStatement())],
  ];
  for (const [name, content] of examples) {
    const file = new URL(`../../docs/examples/${name}`, import.meta.url);
    if (process.env.UPDATE_EXAMPLES) writeFileSync(file, content);
    assert.ok(readFileSync(file, 'utf8') === content, `docs/examples/${name} differs from what is written`);
  }
});

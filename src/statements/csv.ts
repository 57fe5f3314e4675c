import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import { spreadsheetText } from '../values/text.ts';
import { tableOf } from '../values/unknown.ts';
import { type AccountStatement, balancedLines, counterparty } from './account-statement.ts';

/** The columns in order. Amounts are plain decimals with a point and a sign, so that a spreadsheet can add them up. */
export const CSV_COLUMNS = [
  'account_id',
  'currency',
  'entry',
  'booking_date',
  'value_date',
  'amount',
  'balance',
  'transaction_id',
  'kind',
  'counterparty_name',
  'counterparty_account',
  'transaction_reference',
  'transaction_information',
  'additional_transaction_information',
  'booking_datetime',
] as const;

type CsvRow = Record<(typeof CSV_COLUMNS)[number], string>;

/** Separators of locales with a decimal comma. There `ref;=1+1` would be two fields, the second a formula. */
const OTHER_DELIMITERS = /[;\t|]/;

/**
 * A statement as a stream of CSV (RFC 4180: CRLF, quotes doubled) that keeps only a few lines in memory. It is UTF-8 with a byte order
 * mark; without one, spreadsheets use the machine's old code page. Each section has a row `opening_balance`, its transactions, and a row
 * `closing_balance`. A text that a spreadsheet would run as a formula gets an apostrophe in front. Amounts need none, because they are
 * formatted here (docs/decisions.md, 5).
 */
export function statementCsv(statement: AccountStatement): Readable {
  const writer = stringify({
    header: true,
    columns: [...CSV_COLUMNS],
    bom: true,
    record_delimiter: 'windows',
    quoted_match: OTHER_DELIMITERS,
  });
  const source = Readable.from(rows(statement), { objectMode: true, highWaterMark: 64 });
  source.on('error', (error) => writer.destroy(error));
  writer.on('close', () => source.destroy());
  return source.pipe(writer);
}

async function* rows(statement: AccountStatement): AsyncGenerator<CsvRow> {
  for (const section of statement.sections) {
    const account = { account_id: spreadsheetText(section.account_id), currency: spreadsheetText(section.currency) };
    yield {
      ...EMPTY,
      ...account,
      entry: 'opening_balance',
      booking_date: statement.date_from,
      balance: section.opening,
    };
    for await (const { line, signed, balance } of balancedLines(section)) {
      const other = counterparty(line);
      yield {
        ...account,
        entry: 'transaction',
        booking_date: line.booking_datetime.slice(0, 10),
        value_date: line.value_datetime?.slice(0, 10) ?? '',
        amount: signed,
        balance,
        transaction_id: spreadsheetText(line.transaction_id),
        kind: spreadsheetText(line.kind),
        counterparty_name: spreadsheetText(other.name),
        counterparty_account: spreadsheetText(other.account?.iban ?? other.account?.account_number),
        transaction_reference: spreadsheetText(line.transaction_reference),
        transaction_information: spreadsheetText(line.transaction_information),
        additional_transaction_information: spreadsheetText(line.additional_transaction_information),
        booking_datetime: line.booking_datetime,
      };
    }
    yield { ...EMPTY, ...account, entry: 'closing_balance', booking_date: statement.date_to, balance: section.closing };
  }
}

const EMPTY: CsvRow = tableOf(CSV_COLUMNS, () => '');

import type { Pool } from '../../database/database.ts';
import { monotonic } from '../../values/calendar.ts';
import { csvLine, spreadsheetText } from '../../values/text.ts';
import { AS_TEXT } from '../payment-fields.ts';
import { SearchConditions } from '../search/search-conditions.ts';
import type { PaymentSearch } from '../search/search-parameters.ts';
import { Parameters } from '../search/search-statement.ts';

/** The number of payments that are read and written at once. */
const PART_ROWS = 1_000;
/** A slower reader is cut off, because its transaction keeps the database from cleaning up. */
const MAX_EXPORT_MS = 600_000;
/** UTF-8 with a byte order mark. Without one, spreadsheets use the machine's old code page. */
const BYTE_ORDER_MARK = '\ufeff';

/** The columns in order, under the API's names. `text`: people wrote it. Amounts are plain decimals, moments are in London time. */
const COLUMNS: readonly (readonly [name: string, sql: string, text?: 'text'])[] = [
  ['payment_id', 'p.payment_id'],
  ['created_date', `to_char(p.created at time zone 'Europe/London', 'YYYY-MM-DD HH24:MI:SS')`],
  ['payment_date', 'p.payment_date'],
  ['status', 'p.status'],
  ['amount', 'p.amount'],
  ['payment_currency', 'p.payment_currency'],
  ['fee_amount', 'p.fee_amount'],
  ['fee_currency', 'p.fee_currency'],
  ['beneficiary_id', 'p.beneficiary_id'],
  ['beneficiary_name', 'p.beneficiary_name', 'text'],
  ['account_number', 'p.account_number', 'text'],
  ['iban', 'p.iban'],
  ['bank_identifier', 'p.bank_identifier', 'text'],
  ['swift_code', 'p.swift_code'],
  ['reference', 'p.reference', 'text'],
  ['charges', 'p.charges', 'text'],
  ['ordered_by_name', 'p.ordered_by_name', 'text'],
  ['trade_id', 'p.trade_id'],
  ['uuid', 'p.uuid'],
  ['reason', 'p.reason', 'text'],
];

/** The contact who exports, as in a search. */
export interface Exporter {
  clientId: string;
  viewer: string;
}

/** The statement for everything that a search matches, in its order. It ignores the page of the search. */
function exportStatement({ clientId, viewer }: Exporter, search: PaymentSearch): { text: string; values: unknown[] } {
  const parameters = new Parameters();
  const [client, contact] = [parameters.add(clientId), `${parameters.add(viewer)}::text`];
  const conditions = new SearchConditions(parameters, client, contact, search);
  const columns = COLUMNS.map(([, sql]) => sql).join(', ');
  const matches = `select ${columns}, p.${search.orderBy} as sorted, p.id from payments p where ${conditions.every()}`;
  const direction = search.descending ? ' desc' : '';
  // Only some searches use the viewer as a parameter, and a parameter that the text does not use has no type.
  const text = `select * from (${conditions.eachIdentifier(matches)}) m where ${contact} is not null
    order by sorted${direction}, id${direction}`;
  return { text, values: parameters.values };
}

/**
 * Everything that a search matches, as parts of a CSV file. It is one snapshot, read through a cursor, so a million payments take no more
 * memory than a thousand. If the reader goes away, the export ends.
 */
export async function* exportPayments(pool: Pool, exporter: Exporter, search: PaymentSearch): AsyncGenerator<string> {
  const began = monotonic();
  const connection = await pool.connect();
  let sound = false;
  try {
    await connection.query('begin transaction isolation level repeatable read, read only');
    const { text, values } = exportStatement(exporter, search);
    await connection.query(`declare exported no scroll cursor for ${text}`, values);
    yield BYTE_ORDER_MARK + csvLine(COLUMNS.map(([name]) => name));
    for (;;) {
      const { rows } = await connection.query<(string | null)[]>({
        text: `fetch ${PART_ROWS} from exported`,
        rowMode: 'array',
        types: AS_TEXT,
      });
      if (rows.length > 0) yield rows.map(lineOf).join('');
      if (rows.length < PART_ROWS) break;
      if (monotonic() - began > MAX_EXPORT_MS) throw new Error('the reader of an export is too slow');
    }
    sound = true;
  } finally {
    // Closing the connection ends the transaction of an interrupted export, wherever it was.
    if (sound) await connection.query('rollback');
    connection.release(!sound);
  }
}

function lineOf(row: (string | null)[]): string {
  return csvLine(COLUMNS.map(([, , text], index) => (text ? spreadsheetText(row[index]) : (row[index] ?? ''))));
}

import type { Db } from '../../database/database.ts';
import type { ListRequest } from '../../database/rows.ts';
import { contactNames } from '../../identity/people/contact.ts';
import { csvLine, spreadsheetText } from '../../values/text.ts';
import { ROW_FIELDS } from '../instructions/row.ts';
import { type AnsweredFault, MAX_ROWS } from '../rows.ts';
import { clientView, type MassPayment } from './declaration.ts';
import { findMassPayment, listMassPayments } from './reading.ts';

/** Files of payments in the form that their pages show. */

/** A file, with the name of the contact who sent it. */
export interface ListedFile {
  file: ReturnType<typeof clientView>;
  made_by: string;
}

/** A page of the files of a client, the newest first. */
export async function listFiles(
  db: Db,
  request: ListRequest & { clientId: string },
): Promise<{ rows: ListedFile[]; total: number | undefined }> {
  const { rows, total } = await listMassPayments(db, request);
  return { rows: await named(db, rows), total };
}

/** A file, with what only its page shows. */
export interface ShownFile extends ListedFile {
  /** The names of payees that the file would create, as they were sent. */
  new_payees: string[];
  /** Whether its rows are lines of a CSV, below a header. */
  has_lines: boolean;
}

/** @throws Problem mass_payment_not_found */
export async function showFile(db: Db, clientId: string, id: string): Promise<ShownFile> {
  const [listed] = await named(db, [await findMassPayment(db, id, clientId)]);
  const { rows } = await db.query<{ new_payees: string[]; has_lines: boolean }>(
    `select m.texts as has_lines, coalesce((select json_agg(n.name order by n.name) from (
        select min(r.sent ->> 'beneficiary_name') as name from mass_payment_rows r
        where r.client_id = $1 and r.mass_payment_id = m.mass_payment_id and r.status = 'valid' and r.new_payee is not null
        group by r.new_payee) n), '[]') as new_payees
      from mass_payments m where m.client_id = $1 and m.mass_payment_id = $2`,
    [clientId, id],
  );
  return { ...(listed as ListedFile), new_payees: [], has_lines: false, ...rows[0] };
}

async function named(db: Db, files: readonly MassPayment[]): Promise<ListedFile[]> {
  const names = await contactNames(db, [...new Set(files.map(({ created_by: by }) => by))]);
  return files.map((file) => ({ file: clientView(file), made_by: names.get(file.created_by) ?? file.created_by }));
}

/** The rows of a file that cannot be done, as a CSV with a last column `error`. @throws Problem mass_payment_not_found */
export async function errorsAsCsv(db: Db, clientId: string, id: string): Promise<string> {
  await findMassPayment(db, id, clientId);
  const { rows } = await db.query<{ sent: Record<string, string | null> | null; errors: AnsweredFault[] }>(
    // Read as texts, so that no digit of an amount is lost.
    `select (select json_object_agg(e.key, e.value) from json_each_text(case when json_typeof(r.sent) = 'object' then r.sent end) e) as sent, r.errors
      from mass_payment_rows r where r.client_id = $1 and r.mass_payment_id = $2 and r.status = 'invalid' order by r.request_index`,
    [clientId, id],
  );
  const given = new Set(rows.flatMap(({ sent }) => Object.keys(sent ?? {})));
  const known = ROW_FIELDS.filter((name) => given.has(name));
  const columns: string[] = [...known, ...[...given].filter((name) => !(known as string[]).includes(name))];
  const lines = rows.map(({ sent, errors }) => [
    ...columns.map((name) => spreadsheetText(sent?.[name])),
    spreadsheetText(errors.map(({ code, details }) => `${code}: ${details}`).join('; ')),
  ]);
  return [[...columns.map(spreadsheetText), 'error'], ...lines].map(csvLine).join('');
}

/** A beneficiary's field for each name of a row. */
const OF_PAYEE: Readonly<Record<string, string>> = {
  ...{ beneficiary_name: 'beneficiary_name', beneficiary_country: 'country_code', bank_country: 'bank_country_code' },
  ...{ beneficiary_address: 'address_line_1', beneficiary_city: 'city', beneficiary_state: 'state_region' },
  ...{ beneficiary_post_code: 'post_code', iban: 'iban', account_number: 'account_number' },
  ...{ bank_code: 'bank_identifier', swift_code: 'swift_code', bank_name: 'bank_name' },
  ...{ purpose_of_payment: 'purpose_of_payment', reason_for_trade: 'reason_for_trade' },
};
const OF_PAYMENT: Readonly<Record<string, string>> = {
  ...{ payment_currency: 'currency', direction: `'buy'`, trade_type: `'spot'` },
};
/** Whether the fields of a payee are enough to describe it in a row. Otherwise only its identifier can be used. */
const NAMED = 'country_code is not null and bank_country_code is not null';

/** SQL for a column of a row, filled from a payee. */
function columnOf(name: string): string {
  const own = OF_PAYEE[name];
  if (own) return `case when ${NAMED} then ${own} end`;
  return name === 'beneficiary_id' ? `case when not (${NAMED}) then beneficiary_id end` : (OF_PAYMENT[name] ?? 'null');
}

/** The header of a CSV of payments. */
export function template(): string {
  return csvLine([...ROW_FIELDS]);
}

/** The header, and a line for each payee that lacks only the amount and the reference. There are at most as many lines as a file can have. */
export async function templateWithPayees(db: Db, clientId: string): Promise<string> {
  const columns = ROW_FIELDS.map((name) => `${columnOf(name)} as ${name}`).join(', ');
  const { rows } = await db.query<Record<string, string | null>>(
    `select ${columns} from beneficiaries where client_id = $1 and active and not blocked and currency is not null
      order by name_key, account_id limit ${MAX_ROWS}`,
    [clientId],
  );
  return template() + rows.map((row) => csvLine(ROW_FIELDS.map((name) => spreadsheetText(row[name])))).join('');
}

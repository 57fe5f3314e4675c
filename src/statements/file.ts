import type { Readable } from 'node:stream';
import type { Drawing } from '../documents/document.ts';
import type { AccountStatement } from './account-statement.ts';
import { statementCamt } from './camt.ts';
import { statementCsv } from './csv.ts';
import { statementPdf } from './pdf.ts';
import type { StatementFormat } from './request.ts';

const MEDIA_TYPES: Record<StatementFormat, string> = {
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8; header=present',
  'camt.053': 'application/xml',
};
const ENDINGS: Record<StatementFormat, string> = { pdf: 'pdf', csv: 'csv', 'camt.053': 'camt.053.xml' };

/** A file of a statement that has not been written yet. */
export interface StatementFile {
  filename: string;
  contentType: string;
  make(): Promise<Buffer | Readable>;
}

/**
 * The files of a statement. A pdf has a section for each currency. With csv and camt.053 each currency has its own file, so that a program
 * reads one account from each.
 */
export function statementFiles(
  statement: AccountStatement,
  format: StatementFormat,
  drawing: Drawing,
): StatementFile[] {
  const { client, date_from: dateFrom, date_to: dateTo } = statement;
  const named = (currency?: string) => nameFile({ clientId: client.client_id, dateFrom, dateTo, format, currency });
  if (format === 'pdf')
    return [{ ...named(), make: () => statementPdf(drawing.renderer, statement, drawing.institution) }];
  return statement.sections.map((section) => {
    const one = { ...statement, sections: [section] };
    const stream = format === 'csv' ? () => statementCsv(one) : () => statementCamt(one, drawing.institution);
    return { ...named(section.currency), make: async () => stream() };
  });
}

/** The name of a file and its media type. @param about `currency`: of the single account in it */
export function nameFile(about: {
  clientId: string;
  dateFrom: string;
  dateTo: string;
  format: StatementFormat;
  currency?: string | undefined;
}): { filename: string; contentType: string } {
  const { clientId, dateFrom, dateTo, format, currency } = about;
  const words = ['statement', clientId, dateFrom, dateTo, ...(currency ? [currency] : [])];
  return { filename: `${words.join('_')}.${ENDINGS[format]}`, contentType: MEDIA_TYPES[format] };
}

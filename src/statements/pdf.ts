import { currencyName, groupedAmount } from '../documents/currency.ts';
import { drawnInstitution } from '../documents/document.ts';
import type { Renderer } from '../documents/renderer.ts';
import type { Institution } from '../settings/institution.ts';
import { printableJson } from '../values/text.ts';
import {
  type AccountStatement,
  type BalancedLine,
  balancedLines,
  counterparty,
  lineCount,
  type StatementSection,
} from './account-statement.ts';

/** Lines on the first page of a section, below letterhead and summary, and on its other pages (statement.typ). */
export const LINES_ON_FIRST_PAGE = 20;
export const LINES_ON_PAGE = 29;
/** Pages that are drawn at once. With more, overdue single documents (5 ms each) would wait too long behind them. */
const PAGES_IN_PART = 25;
/** Longer statements are not tagged for screen readers, because tags make a file 15 times larger. */
const MAX_TAGGED_PAGES = 20;
/** One part is drawn while the next one is filled. */
const MAX_PARTS_IN_FLIGHT = 2;

interface StatementPage {
  section: number;
  first: boolean;
  empty: boolean;
  start: { title: string; day: string; balance: string };
  end: { title: string; day: string; balance: string };
  rows: ReturnType<typeof drawnLine>[];
}

/** The number of pages of a section. It follows from the number of lines, because every row has the same height. */
export function pagesOf(section: StatementSection): number {
  return 1 + Math.ceil(Math.max(0, lineCount(section) - LINES_ON_FIRST_PAGE) / LINES_ON_PAGE);
}

/**
 * A statement as PDF, with a section for each currency account. Every page repeats the headings, and has the balances brought and carried
 * forward and "page x of y". The same facts give the same bytes. A long statement is drawn in parts as its lines arrive, and joined at the
 * end, so memory grows with the file and not with the layout (docs/decisions.md, 5).
 * @throws RenderError if the renderer failed; Error if the lines do not add up
 */
export async function statementPdf(
  renderer: Renderer,
  statement: AccountStatement,
  institution: Institution,
): Promise<Buffer> {
  const totalPages = statement.sections.reduce((sum, section) => sum + pagesOf(section), 0);
  const whole = drawnStatement(statement, institution, totalPages);
  const tagged = totalPages <= MAX_TAGGED_PAGES;
  const parts: Promise<Buffer>[] = [];

  const draw = (pages: StatementPage[], firstPage: number): Promise<Buffer> =>
    renderer.draw(
      {
        kind: 'draw',
        template: 'statement.typ',
        data: printableJson({ ...whole, tagged, first_page: firstPage, pages }),
        tagged,
        ...(institution.logo && { logo: institution.logo }),
      },
      'bulk',
    );

  let waiting: StatementPage[] = [];
  let drawn = 0;
  const flush = async () => {
    const part = draw(waiting, drawn + 1);
    // It is awaited below. A failure before that must not count as unhandled.
    part.catch(() => undefined);
    parts.push(part);
    drawn += waiting.length;
    waiting = [];
    await parts.at(-MAX_PARTS_IN_FLIGHT);
  };
  for await (const page of pages(statement)) {
    waiting.push(page);
    if (waiting.length === PAGES_IN_PART) await flush();
  }
  if (waiting.length > 0) await flush();
  const files = await Promise.all(parts);
  if (files.length === 1) return files[0]!;
  const task = {
    kind: 'join' as const,
    parts: files,
    pages: totalPages,
    title: whole.title,
    author: institution.name,
    date: statement.created_at,
  };
  return renderer.draw(task, 'bulk');
}

async function* pages(statement: AccountStatement): AsyncGenerator<StatementPage> {
  for (const [index, section] of statement.sections.entries()) {
    const figure = (amount: string) => groupedAmount(amount, section.currency);
    const blank = (page: Pick<StatementPage, 'first' | 'start'>): StatementPage => ({
      ...page,
      section: index,
      empty: lineCount(section) === 0,
      end: { title: 'Closing balance', day: shortDay(statement.date_to), balance: figure(section.closing) },
      rows: [],
    });
    const opening = { title: 'Opening balance', day: shortDay(statement.date_from), balance: figure(section.opening) };
    let page = blank({ first: true, start: opening });
    let balance = opening.balance;
    for await (const balanced of balancedLines(section)) {
      if (page.rows.length === (page.first ? LINES_ON_FIRST_PAGE : LINES_ON_PAGE)) {
        yield { ...page, end: { title: 'Carried forward', day: '', balance } };
        page = blank({ first: false, start: { title: 'Brought forward', day: '', balance } });
      }
      page.rows.push(drawnLine(balanced, figure));
      balance = page.rows.at(-1)!.balance;
    }
    yield page;
  }
}

function drawnStatement(statement: AccountStatement, institution: Institution, totalPages: number) {
  const id = statement.statement_id;
  return {
    title: `Account statement ${statement.date_from} to ${statement.date_to}`,
    id,
    date: statement.created_at,
    total_pages: totalPages,
    institution: drawnInstitution(institution),
    client: statement.client,
    period: `${shortDay(statement.date_from)} to ${shortDay(statement.date_to)}`,
    sections: statement.sections.map((section) => ({
      account_id: section.account_id,
      currency: section.currency,
      currency_name: currencyName(section.currency),
      opening: groupedAmount(section.opening, section.currency),
      closing: groupedAmount(section.closing, section.currency),
      credits: groupedAmount(section.totals.credits, section.currency),
      debits: groupedAmount(section.totals.debits, section.currency),
      credit_count: String(section.totals.credit_count),
      debit_count: String(section.totals.debit_count),
    })),
  };
}

function drawnLine({ line, balance }: BalancedLine, figure: (amount: string) => string) {
  const debit = line.credit_debit_indicator === 'Debit';
  const other = counterparty(line);
  const valueDay = line.value_datetime?.slice(0, 10);
  const details = [
    line.transaction_reference,
    line.transaction_information,
    line.additional_transaction_information,
    line.transaction_id,
  ];
  return {
    day: shortDay(line.booking_datetime),
    value_day: valueDay && valueDay !== line.booking_datetime.slice(0, 10) ? shortDay(valueDay) : null,
    who: other.name ?? KIND_NAMES[line.kind] ?? line.kind,
    what: details.filter(Boolean).join(' · '),
    debit: debit ? figure(line.amount) : null,
    credit: debit ? null : figure(line.amount),
    balance: figure(balance),
  };
}

const KIND_NAMES: Record<string, string> = {
  CREDIT_INCOMING_TRANSACTION: 'Incoming funds',
  CREDIT_MARGIN_TRANSACTION: 'Margin returned',
  CREDIT_PAYMENT_RETURNED_TRANSACTION: 'Payment returned',
  CREDIT_TRANSACTION: 'Credit',
  DEBIT_TRANSACTION: 'Debit',
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** A day or a moment in the form `3 Jul 2026`. */
function shortDay(date: string): string {
  return `${Number(date.slice(8, 10))} ${MONTHS[Number(date.slice(5, 7)) - 1]} ${date.slice(0, 4)}`;
}

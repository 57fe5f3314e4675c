import type { Db } from '../../database/database.ts';
import { mayApprove, withPermissions } from '../viewer-permissions.ts';

/** A number of payments, and their sums. */
export interface Figure {
  count: number;
  /** A decimal text for each currency, by its code. */
  sums: { currency: string; count: number; amount: string }[];
}

/** What a person sees first about a client (docs/pages.md). */
export interface Figures {
  waiting_for_me: Figure;
  /** The part of `waiting_for_me` that is due today or overdue. */
  due_for_me: Figure;
  made_by_me: Figure;
  /** What waits for anybody and is due today. */
  due_today: Figure;
}

/** How a figure is stored: the conditions on its rolled-up rows and on the deltas since (totals.ts). $2 is the contact, $3 today. */
interface KeptFigure {
  totals: string;
  deltas: string;
  /** A further condition. */
  only?: string;
}

const OWN = { deltas: 'payment_approver_deltas where contact_id = $2', only: mayApprove('$1', '$2') };
const FIGURES: Record<keyof Figures, KeptFigure> = {
  waiting_for_me: { ...OWN, totals: 'payment_approver_totals where contact_id = $2 and grain = 0' },
  due_for_me: {
    totals: 'payment_approver_totals where contact_id = $2 and grain = 1 and day <= $3::date',
    deltas: `${OWN.deltas} and payment_date <= $3::date`,
    only: OWN.only,
  },
  made_by_me: {
    totals: 'payment_waiting_totals where grain = 0 and contact_id = $2',
    deltas: 'payment_total_deltas where phase = 1 and contact_id = $2',
  },
  due_today: {
    totals: `payment_waiting_totals where grain = 1 and contact_id = '' and day = $3::date`,
    deltas: 'payment_total_deltas where phase = 1 and payment_date = $3::date',
  },
};

/**
 * The figures of a client for a contact, read by one statement on one connection, because every open page asks for them after each change.
 * They are kept rather than added up, so the cost does not depend on how many payments wait.
 * @param today the London day
 */
export async function readFigures(
  db: Db,
  { clientId, contactId, today }: { clientId: string; contactId: string; today: string },
): Promise<Figures> {
  const statement = await withPermissions(db, figuresStatement([clientId, contactId, today]));
  const { rows } = await db.query<FigureRow>(statement);
  const figure = (name: keyof Figures): Figure => {
    const sums = rows
      .filter((row) => row.figure === name)
      .map(({ currency, count, amount }) => ({ currency, count, amount }));
    return { count: sums.reduce((sum, { count }) => sum + count, 0), sums };
  };
  return {
    waiting_for_me: figure('waiting_for_me'),
    due_for_me: figure('due_for_me'),
    made_by_me: figure('made_by_me'),
    due_today: figure('due_today'),
  };
}

type FigureRow = Figure['sums'][number] & { figure: keyof Figures };

/** The statement of all figures: a row for each figure and currency. */
export function figuresStatement(values: unknown[]): { name: string; text: string; values: unknown[] } {
  const figures = Object.entries(FIGURES).map(
    ([name, { totals, deltas, only = 'true' }]) =>
      `select '${name}' as figure, payment_currency as currency, sum(n)::bigint as count, trim_scale(sum(amount))::text as amount
      from (select payment_currency, n, amount from ${totals} and client_id = $1
        union all select payment_currency, n, amount from ${deltas} and client_id = $1) kept
      where ${only} group by payment_currency having sum(n) <> 0`,
  );
  return { name: 'figures', text: `${figures.join('\n    union all ')}\n    order by currency`, values };
}

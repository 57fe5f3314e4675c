import { type Db, first } from '../database.ts';
import { mayApprove } from './payment-fields.ts';
import { keptApprovals } from './totals.ts';

/** Payments that are added up for a figure; of more than these only the number is told. */
const MAX_SUMMED_PAYMENTS = 50_000;

/** How many payments there are, and what they come to. */
export interface Figure {
  count: number;
  /** A decimal text for each currency, by its code; null where there are too many payments to add up. */
  sums: { currency: string; count: number; amount: string }[] | null;
}

/** What a person sees first of a client (docs/pages.md). */
export interface Figures {
  waiting_for_me: Figure;
  /** Of those, what is to be paid today or should have been paid before. */
  due_for_me: Figure;
  made_by_me: Figure;
  /** What waits for anybody, and is to be paid today. */
  due_today: Figure;
}

/** Payments `p` of each figure: `from` and `where`. $1 is the client, $2 the contact, $3 today. */
const OWN = `payment_approvers a cross join lateral (select k.id, k.amount, k.payment_currency from payments k
    where k.client_id = $1 and k.id = a.payment_id offset 0) p
  where a.client_id = $1 and a.contact_id = $2 and a.may_authorise and ${mayApprove('$1', '$2')}`;
const PENDING = `p.client_id = $1 and p.status = 'Payment pending of authorization'`;
const FIGURES: Record<keyof Figures, string> = {
  waiting_for_me: OWN,
  due_for_me: `${OWN} and a.payment_date <= $3::date`,
  made_by_me: `payments p where ${PENDING} and p.contact_id = $2`,
  due_today: `payments p where p.client_id = $1 and p.phase = 1 and p.payment_date = $3::date`,
};

/** @param today the London day */
export async function readFigures(
  db: Db,
  { clientId, contactId, today }: { clientId: string; contactId: string; today: string },
): Promise<Figures> {
  const values = [clientId, contactId, today];
  const figure = async (name: keyof Figures): Promise<Figure> => {
    const found = await db.query<{ currency: string; count: number; amount: string }>(figureStatement(name, values));
    const count = found.rows.reduce((sum, row) => sum + row.count, 0);
    if (count <= MAX_SUMMED_PAYMENTS) return { count, sums: found.rows };
    return { count: name === 'waiting_for_me' ? await countApprovals(db, clientId, contactId) : count, sums: null };
  };
  const [waiting_for_me, due_for_me, made_by_me, due_today] = await Promise.all(
    (['waiting_for_me', 'due_for_me', 'made_by_me', 'due_today'] as const).map(figure),
  );
  return { waiting_for_me, due_for_me, made_by_me, due_today } as Figures;
}

/** The statement of a figure: it reads no more than one payment above what is added up. */
export function figureStatement(
  name: keyof Figures,
  values: unknown[],
): { name: string; text: string; values: unknown[] } {
  return {
    name: `figure-${name}`,
    text: `select payment_currency as currency, count(*) as count, sum(amount)::text as amount
      from (select p.amount, p.payment_currency from ${FIGURES[name]} limit ${MAX_SUMMED_PAYMENTS + 1}) p
      where $2::text is not null and $3::date is not null group by 1 order by 1`,
    values,
  };
}

/** How many payments the contact may authorise now, however many they are. */
async function countApprovals(db: Db, clientId: string, contactId: string): Promise<number> {
  const found = first(
    await db.query<{ n: number }>(`select (${keptApprovals('$1', '$2')})::bigint as n`, [clientId, contactId]),
  );
  return found?.n ?? 0;
}

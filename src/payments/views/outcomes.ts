import type { Db } from '../../database/database.ts';
import { contactNames } from '../../identity/people/contact-names.ts';
import type { PaymentStatus } from '../moves.ts';
import { PAYMENTS_BY_ID } from '../payment-fields.ts';

/** How a payment stands, and who brought it there. */
export interface Outcome {
  payment_id: string;
  status: PaymentStatus;
  /** The name of the person; null while it waits, and where the institution did it. */
  by: string | null;
  at: Date | null;
  reason: string | null;
}

/** How payments of the client stand now, for somebody who came too late. */
export async function paymentOutcomes(db: Db, clientId: string, paymentIds: readonly string[]): Promise<Outcome[]> {
  const { rows } = await db.query<Outcome & Record<string, unknown>>({
    name: 'payment-outcomes',
    text: `select p.payment_id, p.status, o.contact_id as by, o.at, p.reason
      from ${PAYMENTS_BY_ID} cross join lateral (values (
        case p.phase when 1 then null when 4 then p.rejected_by when 5 then p.cancelled_by else p.authorised_by end,
        case p.phase when 1 then null when 4 then p.rejected_date when 5 then p.cancelled_date else p.authorised_date end)
      ) o (contact_id, at)`,
    values: [clientId, paymentIds],
  });
  const names = await contactNames(
    db,
    rows.flatMap(({ by }) => by ?? []),
  );
  return rows.map((row) => ({ ...row, by: (row.by && names.get(row.by)) ?? null }));
}

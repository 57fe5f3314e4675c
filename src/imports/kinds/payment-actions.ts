import { endStep } from '../../database/database.ts';
import { actOnPayments } from '../../payments/actions/payment-action.ts';
import type { PaymentAction } from '../../payments/moves.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

/** A line of POST /imports/payment-actions. */
export interface PaymentActionLine {
  payment_id: PaymentId;
  action: PaymentAction;
  contact_id?: string;
  reason?: string;
}

type Row = ImportRow<PaymentActionLine>;

/** Actions on payments (docs/imports.md), each like the single action. Several actions on one payment happen in the order of their lines. */
export const paymentActionImport: ImportKind<PaymentActionLine, Row> = {
  entity: 'payment',
  batchRows: 2_000,
  whole: true,

  read: (line, input) => ({ line, input, id: undefined }),

  async check(tx, rows, { act, presentation, notify, stop = false }) {
    const refusals = new Refusals();
    const onBehalfBy = act.actor.replace(/^operator:/, '');
    for (const [index, step] of (stop ? runs(rows) : rounds(rows)).entries()) {
      // Readers of the change feed see each move of a payment.
      if (index > 0) await endStep(tx);
      const open = step.filter(({ line }) => !stop || line < refusals.first);
      const requests = open.map(({ input: { payment_id: paymentId, action, contact_id: contactId, reason } }) => ({
        ...{ paymentId, action, contactId, reason, onBehalfBy },
      }));
      const { refused } = await actOnPayments(tx, act, requests, { presentation, silent: !notify, stop });
      refusals.refuseRows(open, refused);
    }
    return refusals;
  },

  // `check` has performed them, because whether one is legal depends on those before it.
  async insert() {},
};

/** Groups the lines into rounds: the first line of each payment, then the second ones, and so on. */
function rounds(rows: Row[]): Row[][] {
  const counts = new Map<string, number>();
  const all: Row[][] = [];
  for (const row of rows) {
    const count = counts.get(row.input.payment_id) ?? 0;
    counts.set(row.input.payment_id, count + 1);
    all[count] ??= [];
    all[count].push(row);
  }
  return all;
}

/** Groups consecutive lines, each for a different payment. */
function runs(rows: Row[]): Row[][] {
  const all: Row[][] = [];
  let named = new Set<string>();
  for (const row of rows) {
    if (all.length === 0 || named.has(row.input.payment_id)) {
      all.push([]);
      named = new Set();
    }
    named.add(row.input.payment_id);
    all.at(-1)?.push(row);
  }
  return all;
}

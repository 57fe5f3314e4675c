import { presentationOf } from '../../payments/presentation.ts';
import { Problem } from '../../values/errors.ts';
import { sum } from '../../values/money.ts';
import { fieldsOf } from '../../values/unknown.ts';
import type { Outcome } from '../engine.ts';
import { createInstructed, type RowOrigin } from '../instructions/creation.ts';
import { coverInstructions } from '../instructions/judgement.ts';
import { answered } from '../rows.ts';
import type { StoredOrigin } from './file.ts';
import {
  dropRows,
  judgeAgain,
  moveTo,
  orderer,
  refuseTakenUetrs,
  rowsOf,
  type Step,
  type StoredRow,
  sumsOf,
} from './file-step.ts';

/** Makes the payments of a file in batches. */

/** Rows that one transaction makes. More rows would cost the same each, and keep others waiting longer (docs/performance-orders.md). */
const MADE_ROWS = 50;
const MADE_GENTLY = 10;

/** Makes the next payments of a file. */
export async function make(step: Step): Promise<Outcome> {
  const { tx, file, gently } = step;
  const stored = await rowsOf(step, {
    ...{ where: "status = 'valid'", most: gently ? MADE_GENTLY : MADE_ROWS },
    done: file.made,
  });
  if (stored.length === 0) {
    const { sums, fresh } = await sumsOf(step);
    return moveTo(step, 'Created', { sums, new_beneficiaries: fresh });
  }
  tx.later('savepoint batch');
  try {
    await makeRows(step, stored);
    await tx.settled();
    return 'goes on';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await tx.query('rollback to savepoint batch');
    // One of the rows is refused. Each is tried alone, so that the others are made.
    for (const row of stored) await makeAlone(step, row);
    return 'goes on';
  }
}

async function makeAlone(step: Step, row: StoredRow): Promise<void> {
  const { tx } = step;
  await tx.query('savepoint one');
  try {
    await makeRows(step, [row]);
    await tx.settled();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await tx.query('rollback to savepoint one');
    await dropRows(
      step,
      new Map([[row.request_index, answered([{ field: '', code: error.code, message: error.details }])]]),
    );
  }
}

async function makeRows(step: Step, stored: readonly StoredRow[]): Promise<void> {
  const { context, tx, act, file } = step;
  const { rows, source, scene, judged } = await judgeAgain(step, stored, false);
  const byIndex = new Map(stored.map((row) => [row.request_index, row]));
  for (const { row, payee } of judged) {
    const known = byIndex.get(row.index)?.beneficiary_id;
    if (known && !payee)
      row.faults.push({ field: '', code: 'beneficiary_not_found', message: 'the payee was deleted meanwhile' });
  }
  await refuseTakenUetrs(step, rows, stored);
  const covered = coverInstructions(
    judged.filter(({ row }) => row.faults.length === 0),
    scene,
  );
  const bought = covered.flatMap((each) => {
    const tradeId = byIndex.get(each.row.index)?.trade_id;
    return tradeId ? [{ each, tradeId }] : [];
  });
  const limits = new Map(
    stored.flatMap(({ request_index: index, limit_amount: amount }) =>
      amount === null ? [] : [[index, amount] as const],
    ),
  );
  const made = await createInstructed(tx, act, {
    ...{ presentation: presentationOf(context), orderer: orderer(file), source, scene, judged: covered, limits },
    boughtBy: new Map(bought.map(({ each, tradeId }) => [each.row.index, tradeId])),
    exchanges: [],
    file: { massPaymentId: file.mass_payment_id, externalReference: file.external_reference_id },
    originOf: ({ row }) => originOf(byIndex.get(row.index)?.origin),
  });
  tx.later({
    name: 'mass-rows-made',
    text: `update mass_payment_rows r set status = 'created', payment_id = u.payment_id, beneficiary_id = u.beneficiary_id, trade_id = u.trade_id
      from unnest($3::int[], $4::text[], $5::text[], $6::text[]) as u(request_index, payment_id, beneficiary_id, trade_id)
      where r.client_id = $1 and r.mass_payment_id = $2 and r.request_index = any($3) and r.request_index = u.request_index`,
    values: [
      ...[file.client_id, file.mass_payment_id, made.map(({ judged: { row } }) => row.index)],
      ...[made.map(({ payment }) => payment.id), made.map(({ payee }) => payee.beneficiary_id)],
      made.map(({ payment }) => payment.input.trade_id),
    ],
  });
  const own = made.flatMap(({ trade, payment }) => (trade ? [payment.amount] : []));
  tx.later({
    name: 'mass-made',
    text: `update mass_payments set made = made + $3, trades = trades + $4, sell_amount = sell_amount + $5
      where client_id = $1 and mass_payment_id = $2`,
    values: [file.client_id, file.mass_payment_id, made.length, own.length, own.reduce(sum, '0')],
  });
  await dropRows(
    step,
    new Map(rows.filter(({ faults }) => faults.length > 0).map((row) => [row.index, answered(row.faults)])),
  );
}

function originOf(stored: StoredOrigin | null | undefined): RowOrigin {
  const { end_to_end_id: endToEndId, uuid, charges, reason } = fieldsOf(stored) as StoredOrigin;
  return { endToEndId, uuid, charges, reason };
}

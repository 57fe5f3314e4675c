import { together } from '../../database/database.ts';
import { requireOpen } from '../../payments/orders/judgement.ts';
import { type LockedTrade, lockTrade } from '../../payments/orders/scene.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { attempt, Problem } from '../../values/errors.ts';
import { sum } from '../../values/money.ts';
import { fieldsOf, present } from '../../values/unknown.ts';
import type { Outcome } from '../engine.ts';
import { createInstructed, type RowOrigin } from '../instructions/creation.ts';
import { coverInstructions } from '../instructions/judgement.ts';
import { answered, faultOf } from '../rows.ts';
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
  const [bought, again] = await together([lockBought(step, stored), judgeAgain(step, stored, false)]);
  const { rows, source, scene, judged } = again;
  const byIndex = new Map(stored.map((row) => [row.request_index, row]));
  for (const { row, payee } of judged) {
    const known = byIndex.get(row.index)?.beneficiary_id;
    if (known && !payee)
      row.faults.push({ field: '', code: 'beneficiary_not_found', message: 'the payee was deleted meanwhile' });
  }
  const ended = refusalsOf([scene.trade, ...bought]);
  for (const { row } of judged) {
    const problem = ended.get(file.trade_id ?? byIndex.get(row.index)?.trade_id ?? '');
    if (problem) row.faults.push({ ...faultOf(problem), field: '' });
  }
  await refuseTakenUetrs(step, rows, stored);
  const covered = coverInstructions(
    judged.filter(({ row }) => row.faults.length === 0),
    scene,
  );
  const boughtBy = covered.flatMap(({ row: { index } }) => {
    const tradeId = byIndex.get(index)?.trade_id;
    return tradeId ? [[index, tradeId] as const] : [];
  });
  const limits = new Map(
    stored.flatMap(({ request_index: index, limit_amount: amount }) =>
      amount === null ? [] : [[index, amount] as const],
    ),
  );
  const made = await createInstructed(tx, act, {
    ...{ presentation: presentationOf(context), orderer: orderer(file), source, scene, judged: covered, limits },
    boughtBy: new Map(boughtBy),
    exchanges: [],
    file: { massPaymentId: file.mass_payment_id, externalReference: file.external_reference_id },
    originOf: ({ row }) => originOf(byIndex.get(row.index)?.origin),
  });
  tx.later({
    name: 'mass-rows-made',
    // A payee that another row or file has made meanwhile is not a new one any more. The day may have moved since the file was judged.
    text: `update mass_payment_rows r set status = 'created', payment_id = u.payment_id, beneficiary_id = u.beneficiary_id,
        trade_id = u.trade_id, warning = u.warning, new_payee = case when u.fresh then r.new_payee end
      from unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[])
        as u(request_index, payment_id, beneficiary_id, trade_id, warning, fresh)
      where r.client_id = $1 and r.mass_payment_id = $2 and r.request_index = any($3) and r.request_index = u.request_index`,
    values: [
      ...[file.client_id, file.mass_payment_id, made.map(({ judged: { row } }) => row.index)],
      ...[made.map(({ payment }) => payment.id), made.map(({ payee }) => payee.beneficiary_id)],
      ...[made.map(({ payment }) => payment.input.trade_id), made.map(({ judged: { warning } }) => warning)],
      made.map(({ judged: { described } }) => described !== undefined),
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

/** Locks the trades that a file has bought for rows. In every transaction a trade is locked before the account that pays for it. */
function lockBought({ tx, file }: Step, stored: readonly StoredRow[]): Promise<(LockedTrade | undefined)[]> {
  const bought = new Set(stored.flatMap(({ trade_id: id }) => id ?? []));
  return together([...bought].sort().map((id) => lockTrade(tx, file.client_id, id)));
}

/** Why nothing may be paid from trades any more, by identifier. The institution may have ended them since the file began. */
function refusalsOf(trades: readonly (LockedTrade | undefined)[]): Map<string, Problem> {
  const refused = new Map<string, Problem>();
  for (const trade of trades) {
    const open = trade && attempt(() => requireOpen(trade));
    if (open instanceof Problem) refused.set(present(trade).trade_id, open);
  }
  return refused;
}

function originOf(stored: StoredOrigin | null | undefined): RowOrigin {
  const { end_to_end_id: endToEndId, uuid, charges, reason } = fieldsOf(stored) as StoredOrigin;
  return { endToEndId, uuid, charges, reason };
}

import { type ErrorCode, Problem } from '../../values/errors.ts';
import type { Outcome } from '../engine.ts';
import { groupsOf, type Priced, priceGroups } from '../instructions/exchanges.ts';
import { exchangeRefusal, type JudgedInstruction, judgeInstructions } from '../instructions/judgement.ts';
import type { Instruction } from '../instructions/row.ts';
import { readInstructionScene } from '../instructions/scene.ts';
import { rightsOf } from '../rights.ts';
import { answered, DUPLICATE_ROW } from '../rows.ts';
import { inTurns } from '../turns.ts';
import {
  errorOf,
  judgeAgain,
  moveTo,
  orderer,
  readStored,
  refuseTakenUetrs,
  rowsOf,
  type Step,
  sepaOf,
  sold,
  sourceOf,
  sumsOf,
} from './file-step.ts';

/** Judges a file row by row. */

/** Rows that one transaction judges. */
const JUDGED_ROWS = 250;
const JUDGED_GENTLY = 50;

/** Judges the next rows. At the end of the file it determines what the file costs. */
export async function judge(step: Step): Promise<Outcome> {
  const { context, tx, act, file } = step;
  const stored = await rowsOf(step, {
    ...{ where: 'status is null', most: step.gently ? JUDGED_GENTLY : JUDGED_ROWS },
    done: file.processed,
  });
  if (stored.length === 0) return concludeJudging(step);
  const rows = await readStored(step, stored);
  const source = sourceOf(file);
  for (const [place, row] of rows.entries()) {
    if (stored[place]?.duplicate) row.faults.unshift(DUPLICATE_ROW);
    else if (row.faults.length === 0 && row.currency === source.sellCurrency && source.accountId === undefined)
      row.faults.push({
        field: 'funding_account_id',
        code: 'required',
        message: 'is required to pay the sell currency itself',
      });
  }
  const scene = await readInstructionScene(tx, act.now, orderer(file), { source, rows });
  const judging = { source, scene, now: act.now, sepa: sepaOf(context) };
  const judged = await inTurns(rows, (some) => judgeInstructions(some, judging));
  await refuseTakenUetrs(step, rows, stored);
  const rights = await rightsOf(tx, orderer(file));
  for (const each of judged) {
    const { row, described, exchanged } = each;
    const refuse = (code: ErrorCode, message: string) => row.faults.push({ field: '', code, message });
    if (described && !rights.can_manage_beneficiaries)
      refuse('permission_denied', 'its maker needs can_manage_beneficiaries to make a payee');
    if (exchanged && !rights.can_trade) refuse('permission_denied', 'its maker needs can_trade to buy a currency');
    const refusal = exchanged ? exchangeRefusal(each, source, scene) : undefined;
    if (refusal) row.faults.push({ field: 'payment_currency', code: 'currency_not_allowed', message: refusal });
    if (exchanged && !scene.fxEnabled) refuse('fx_not_enabled', 'the client may not trade FX');
  }
  const known = new Map(judged.map((each) => [each.row.index, each]));
  await writeJudged(step, rows, known);
  return 'goes on';
}

async function writeJudged(
  { tx, file }: Step,
  rows: readonly Instruction[],
  known: ReadonlyMap<number, JudgedInstruction>,
): Promise<void> {
  const valid = ({ faults }: Instruction) => faults.length === 0;
  const of = <T>(get: (row: Instruction, judged: JudgedInstruction | undefined) => T) =>
    rows.map((row) => (valid(row) ? get(row, known.get(row.index)) : null));
  await tx.query(
    `update mass_payment_rows r set status = u.status, errors = u.errors, currency = u.currency, amount = u.amount,
       beneficiary_id = u.beneficiary_id, new_payee = u.new_payee, exchanged = u.exchanged, warning = u.warning
     from unnest($3::int[], $4::text[], $5::json[], $6::text[], $7::numeric[], $8::text[], $9::text[], $10::boolean[], $11::text[])
       as u(request_index, status, errors, currency, amount, beneficiary_id, new_payee, exchanged, warning)
     where r.client_id = $1 and r.mass_payment_id = $2 and r.request_index = any($3) and r.request_index = u.request_index`,
    [
      ...[file.client_id, file.mass_payment_id, rows.map(({ index }) => index)],
      rows.map((row) => (valid(row) ? 'valid' : 'invalid')),
      rows.map(({ faults }) => (faults.length === 0 ? null : JSON.stringify(answered(faults)))),
      ...[
        of(({ currency }) => currency),
        of(({ amount }) => amount),
        of((_, each) => each?.payee?.beneficiary_id ?? null),
      ],
      ...[of((_, each) => each?.described?.key ?? null), of((_, each) => each?.exchanged ?? null)],
      of((_, each) => each?.warning ?? null),
    ],
  );
  await tx.query(
    'update mass_payments set processed = processed + $3, errored = errored + $4 where client_id = $1 and mass_payment_id = $2',
    [file.client_id, file.mass_payment_id, rows.length, rows.filter((row) => !valid(row)).length],
  );
}

/** Ends the judging: the file waits for its confirmation, goes on without one, or has failed. */
async function concludeJudging(step: Step): Promise<Outcome> {
  const { file, act } = step;
  const { errored, received } = file;
  if (errored === received)
    return moveTo(step, 'Failed', {
      error: errorOf(new Problem('payments_invalid', `none of ${received} instructions is valid`)),
    });
  const { sums, fresh, own } = await sumsOf(step);
  const estimate = await priceOf(step, false);
  const amount = sold(file, estimate, own);
  const { step_up: stepUp } = await rightsOf(step.tx, orderer(file));
  const goesOn = (file.partial || (file.auto_commit && errored === 0)) && !stepUp;
  return moveTo(step, 'Processed', {
    ...{ sums, new_beneficiaries: fresh, sell_amount: amount, estimated_at: amount === null ? null : act.now },
    proceeds: goesOn,
  });
}

/** Prices the exchanges of the valid rows, as of now. */
async function priceOf(step: Step, firm: boolean): Promise<Priced[]> {
  const { context, tx, act, file } = step;
  if (file.sell_currency === null) return [];
  const { judged } = await judgeAgain(
    step,
    await rowsOf(step, { where: "status = 'valid' and exchanged", most: file.received }),
    true,
  );
  const pricing = { environment: context.config.environment, clientId: file.client_id, now: act.now, firm };
  return priceGroups(tx, groupsOf(judged), { ...pricing, sellCurrency: file.sell_currency });
}

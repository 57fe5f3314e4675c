import { audit } from '../../audit/record.ts';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import type { Context } from '../../context.ts';
import { newIds } from '../../database/cells/identifiers.ts';
import { leaveWork, one } from '../../database/database.ts';
import { zerosOf } from '../../exchange/currency.ts';
import { FAULTS, MESSAGES, Problem } from '../../values/errors.ts';
import { parseJson, writtenDigits } from '../../values/json.ts';
import { sum } from '../../values/money.ts';
import { notifyAll } from '../../webhooks/notification.ts';
import type { Outcome, StepOf } from '../engine.ts';
import type { Priced } from '../instructions/exchanges.ts';
import { judgeInstructions } from '../instructions/judgement.ts';
import { type Instruction, readRow } from '../instructions/row.ts';
import { readInstructionScene, type Source } from '../instructions/scene.ts';
import type { RowFault } from '../rows.ts';
import { inTurns } from '../turns.ts';
import { clientView, type MassStatus } from './declaration.ts';
import type { StoredOrigin } from './file.ts';
import { findMassPayment } from './reading.ts';

/** What all steps of a file share: the file, its rows, and the rights of its maker. */

/** A file, whose row is locked. */
export interface File {
  mass_payment_id: string;
  client_id: string;
  external_reference_id: string;
  status: MassStatus;
  auto_commit: boolean;
  partial: boolean;
  authorised: boolean;
  sell_currency: string | null;
  trade_id: string | null;
  funding_account_id: number | null;
  reason: Source['reason'];
  maximum_sell_amount: string | null;
  payment_initiation_id: string | null;
  created_by: string;
  received: number;
  processed: number;
  errored: number;
  made: number;
  sell_amount: string | null;
  texts: boolean;
  waited: boolean;
}

/** A row as it is stored. */
export interface StoredRow {
  request_index: number;
  sent: string;
  duplicate: boolean;
  /** Faults that reading the row again would not find. */
  faults: RowFault[] | null;
  origin: StoredOrigin | null;
  beneficiary_id: string | null;
  exchanged: boolean | null;
  trade_id: string | null;
  limit_amount: string | null;
  amount: string | null;
  currency: string | null;
}

export interface Step extends Omit<StepOf<File>, 'order'> {
  file: File;
}

/** Changes the status of a file, and reports it. @param values further columns */
export async function moveTo(
  { tx, act, file }: Pick<Step, 'tx' | 'act' | 'file'>,
  status: MassStatus,
  values: Record<string, unknown> = {},
): Promise<Outcome> {
  const before = await findMassPayment(tx, file.mass_payment_id, file.client_id);
  const names = Object.keys(values);
  await tx.query(
    `update mass_payments set status = $3${names.map((name, index) => `, ${name} = $${index + 4}`).join('')}
     where client_id = $1 and mass_payment_id = $2`,
    [file.client_id, file.mass_payment_id, status, ...Object.values(values)],
  );
  const after = await findMassPayment(tx, file.mass_payment_id, file.client_id);
  const { mass_payment_id: entityId, client_id: clientId } = file;
  audit(tx, act, { action: 'update', entity: 'mass_payment', entityId, clientId, before, after });
  const body = JSON.stringify({ data: [clientView(after)] });
  await notifyAll(tx, [{ clientId, type: 'MASS_PAYMENT_STATUS_CHANGE', body, now: act.now }]);
  leaveWork(tx, 'orders');
  return 'goes on';
}

export function sourceOf(file: File): Source {
  return {
    ...{ tradeId: file.trade_id ?? undefined, sellCurrency: file.sell_currency ?? undefined },
    ...{ accountId: file.funding_account_id ?? undefined, reason: file.reason },
  };
}

export const orderer = ({ client_id, created_by }: File) => ({ clientId: client_id, contactId: created_by });

const ROW = `request_index, sent::text as sent, duplicate, faults, origin, beneficiary_id, exchanged, trade_id, limit_amount::text as limit_amount,
  amount::text as amount, currency`;

/** Which rows of a file are read. */
interface WantedRows {
  /** An SQL condition of the program's own. */
  where: string;
  most: number;
  /** So many rows at the beginning of the file are done already, and need not be looked at. */
  done?: number;
}

export async function rowsOf({ tx, file }: Step, { where, most, done = 0 }: WantedRows): Promise<StoredRow[]> {
  const { rows } = await tx.query<StoredRow & Record<string, unknown>>({
    name: `mass-rows ${where}`,
    // `offset 0`: walks the rows of the file in their order, and no index of all rows of the client.
    text: `select ${ROW} from (
        select * from mass_payment_rows
        where client_id = $1 and mass_payment_id = $2 and request_index >= $3 order by request_index offset 0) r
      where ${where} order by request_index limit $4`,
    values: [file.client_id, file.mass_payment_id, done, most],
  });
  return rows;
}

/** The instructions of stored rows. */
export function readStored({ context, file }: Step, rows: readonly StoredRow[]): Promise<Instruction[]> {
  const table = bankTable(context.config.bankDetails);
  const read = ({ request_index: index, sent, faults: given }: StoredRow) => {
    const document = parseJson(sent);
    const row = readRow(document, index, { table, texts: file.texts, digits: writtenDigits(document) });
    const told = given ?? [];
    const fields = new Set(told.map(({ field }) => field));
    const own = row.faults.filter(({ field }) => field === '' || !fields.has(field));
    return Object.assign(row, { faults: [...told, ...own] });
  };
  return inTurns(rows, (some) => some.map(read));
}

export const sepaOf = (context: Context) => new Set(bankTable(context.config.bankDetails).sepa);

/** Selects the sums of the valid rows, and the number of payees that would be new. */
const SUMS = `select
    (select coalesce(json_agg(s order by s.currency), '[]') from (
      select currency, sum(amount)::text as amount, count(*)::int as payments from mass_payment_rows
      where client_id = $1 and mass_payment_id = $2 and status in ('valid', 'created') group by 1) s) as sums,
    (select count(distinct new_payee)::int from mass_payment_rows
      where client_id = $1 and mass_payment_id = $2 and status in ('valid', 'created')) as fresh`;

interface Sums {
  /** As JSON. */
  sums: string;
  fresh: number;
  /** Decimals in the sell currency: what is paid in that currency itself, and zero with its number of digits. */
  own: string;
  none: string;
}

export async function sumsOf({ tx, file }: Step): Promise<Sums> {
  const { sums, fresh } = one(
    await tx.query<{ sums: { currency: string; amount: string }[]; fresh: number }>(SUMS, [
      ...[file.client_id, file.mass_payment_id],
    ]),
  );
  const { sell_currency: sell } = file;
  const zeros = await zerosOf(tx, [...sums.map(({ currency }) => currency), ...(sell === null ? [] : [sell])]);
  const shown = sums.map((each) => ({ ...each, amount: sum(each.amount, zeros.get(each.currency) ?? '0') }));
  const none = zeros.get(sell ?? '') ?? '0';
  const own = shown.find(({ currency }) => currency === sell)?.amount ?? none;
  return { sums: JSON.stringify(shown), fresh, own, none };
}

/** What all trades of a file sell, as a decimal; null if an exchange has no price, or if the file is paid from a trade. */
export function sold({ sell_currency: currency }: File, priced: readonly Priced[], own: string): string | null {
  if (currency === null) return null;
  const amounts = priced.map(({ terms }) => (terms instanceof Problem ? null : terms.sellAmount));
  if (amounts.includes(null)) return null;
  return (amounts as string[]).reduce(sum, own);
}

/** Refuses the rows whose UETR another payment already has. */
export async function refuseTakenUetrs(
  { tx, file }: Pick<Step, 'tx' | 'file'>,
  rows: readonly Instruction[],
  stored: readonly StoredRow[],
): Promise<void> {
  const named = rows.flatMap((row, place) => {
    const id = stored[place]?.origin?.uuid;
    return id === undefined || row.faults.length > 0 ? [] : [{ row, id, input: { client_id: file.client_id } }];
  });
  if (named.length === 0) return;
  for (const [place, { code, fault }] of await newIds(tx, 'uuid', named, true))
    named[place]?.row.faults.push({ code, field: 'uuid', message: fault?.message ?? '' });
}

/** Judges valid rows again with the data of now. @param apart without looking up the payees that they describe */
export async function judgeAgain(step: Step, stored: readonly StoredRow[], apart: boolean) {
  const { context, tx, act, file } = step;
  const rows = await readStored(step, stored);
  const source = sourceOf(file);
  const scene = await readInstructionScene(tx, act.now, orderer(file), { source, rows, apart });
  // The code of the file's maker is its authorisation of all payments (instructions, second page, 8).
  scene.codeGiven = file.authorised;
  const judging = { source, scene, now: act.now, sepa: sepaOf(context) };
  const judged = await inTurns(rows, (some) => judgeInstructions(some, judging));
  return { rows, source, scene, judged };
}

export function errorOf(problem: Problem): string {
  const { code, details } = problem;
  return JSON.stringify({
    code,
    message: code in FAULTS ? FAULTS[code as keyof typeof FAULTS] : MESSAGES[code],
    details,
  });
}

/** Marks rows that were valid and can no longer be done. */
export async function dropRows({ tx, file }: Step, dropped: ReadonlyMap<number, object>): Promise<void> {
  if (dropped.size === 0) return;
  await tx.query(
    `update mass_payment_rows r set status = 'invalid', errors = u.errors from unnest($3::int[], $4::json[]) as u(request_index, errors)
     where r.client_id = $1 and r.mass_payment_id = $2 and r.request_index = any($3) and r.request_index = u.request_index`,
    [
      file.client_id,
      file.mass_payment_id,
      [...dropped.keys()],
      [...dropped.values()].map((each) => JSON.stringify(each)),
    ],
  );
  await tx.query('update mass_payments set errored = errored + $3 where client_id = $1 and mass_payment_id = $2', [
    ...[file.client_id, file.mass_payment_id, dropped.size],
  ]);
}

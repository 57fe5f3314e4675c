import { randomUUID } from 'node:crypto';
import type { Act } from '../../audit/act.ts';
import type { BankTable } from '../../beneficiaries/bank-table.ts';
import type { Transaction } from '../../database/database.ts';
import { MAX_DAYS_AHEAD } from '../../exchange/business-days.ts';
import type { Block, Initiation } from '../../iso20022/initiation.ts';
import type { Reason } from '../../iso20022/status.ts';
import { faultOfTotals } from '../../iso20022/totals.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import { daysBetween, londonDay } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';
import { parseJson } from '../../values/json.ts';
import { listOf } from '../../values/unknown.ts';
import { readRows } from '../instructions/row.ts';
import type { RowFault } from '../rows.ts';
import { EXTERNAL_REFERENCE } from './declaration.ts';
import { type NewFile, type RowBeside, takeFile } from './file.ts';

/** Turns each block of a pain.001 into a mass payment (instructions, second page, 9; docs/iso-20022.md). */

/** A block as it is stored. */
export interface KeptBlock {
  id: string;
  count: string | null;
  sum: string | null;
  /** The mass payment; null if the block was refused. */
  mass_payment_id: string | null;
  /** Why the block was refused. */
  reason: Reason | null;
}

/** A message that was accepted. */
export interface KeptInitiation {
  message_id: string;
  message: string;
  written_at: string;
  transactions: string;
  control_sum: string | null;
  blocks: KeptBlock[];
}

/** The account that pays. */
interface Payer {
  account_id: number;
  currency: string;
}

/**
 * Accepts a message. Each of its blocks is refused as a whole, or becomes a mass payment that goes on without its bad rows.
 * @returns undefined if the client has used its MsgId before
 */
export async function takeInitiation(
  tx: Transaction,
  act: Act,
  { orderer, initiation, table }: { orderer: Orderer; initiation: Initiation; table: BankTable },
): Promise<KeptInitiation | undefined> {
  const { clientId, contactId } = orderer;
  const { rowCount } = await tx.query(
    `insert into payment_initiations (client_id, message_id, message, written_at, transactions, control_sum, blocks, created_by, created_at)
     values ($1, $2, $3, $4, $5, $6, '[]', $7, $8) on conflict do nothing`,
    [
      ...[clientId, initiation.messageId, initiation.message, initiation.createdAt, initiation.count],
      ...[initiation.sum ?? null, contactId, act.now],
    ],
  );
  if (rowCount === 0) return undefined;
  const payers = await payersOf(tx, clientId);
  const beside = besideRows(initiation);
  const names = new Set<string>();
  const blocks: KeptBlock[] = [];
  for (const block of initiation.blocks) {
    const payer = payers.find((each) => isPayer(each, block));
    const reason = refusalOf(block, { today: londonDay(act.now), payer, used: names.has(block.id) });
    names.add(block.id);
    const taken =
      reason || !payer ? null : await takeBlock(tx, act, { orderer, table, block, payer, initiation, beside });
    blocks.push({
      ...{ id: block.id, count: block.count ?? null, sum: block.sum ?? null },
      ...{ mass_payment_id: taken, reason: reason ?? null },
    });
  }
  await tx.query('update payment_initiations set blocks = $3 where client_id = $1 and message_id = $2', [
    ...[clientId, initiation.messageId, JSON.stringify(blocks)],
  ]);
  const { messageId, message, createdAt, count, sum } = initiation;
  return {
    ...{ message_id: messageId, message, written_at: createdAt, transactions: count, control_sum: sum ?? null, blocks },
  };
}

/** An account that pays, with all numbers by which a DbtrAcct may name it. */
type Named = Payer & { numbers: string[]; ibans: string[] };

/** The currency accounts of a client. A DbtrAcct may name one by its own numbers, or by those of the client's accounts in its currency. */
async function payersOf(tx: Transaction, clientId: string): Promise<Named[]> {
  const { rows } = await tx.query<Payer & { details: { account_number?: string | null }[] }>(
    `select c.account_id, c.currency,
       coalesce((select json_agg(d.value) from accounts a cross join json_array_elements(a.account_details) d
         where a.client_id = $1 and a.currency = c.currency and a.status <> 'Deleted'), '[]') as details
     from currency_accounts c where c.client_id = $1 order by c.account_id`,
    [clientId],
  );
  return rows.map(({ account_id: accountId, currency, details }) => {
    const numbers = details.flatMap(({ account_number: number }) => (number ? [bare(number)] : []));
    return { account_id: accountId, currency, numbers: [String(accountId), ...numbers], ibans: numbers };
  });
}

/** A number without blanks and hyphens. */
const bare = (number: string) => number.replace(/[\s-]/g, '').toUpperCase();

function isPayer({ currency, numbers, ibans }: Named, { account, currency: asked }: Block): boolean {
  if (asked !== undefined && asked !== currency) return false;
  return 'iban' in account ? ibans.includes(bare(account.iban)) : numbers.includes(bare(account.number));
}

/** Why a block is refused: the first reason in the order of the contract; undefined if it is not. */
function refusalOf(
  block: Block,
  { today, payer, used }: { today: string; payer: Payer | undefined; used: boolean },
): Reason | undefined {
  const because = (code: string, ours: string, why: string) => ({ code, information: `${ours}: ${why}` });
  const total = faultOfTotals(block, block.transactions);
  if (total) return because(total.of === 'count' ? 'AM20' : 'AM17', 'invalid_format', total.details);
  if (block.method !== 'TRF') return because('CH16', 'invalid_format', 'PmtMtd must be TRF');
  if (block.day < today) return because('DT01', 'invalid_format', `ReqdExctnDt must not be before today, ${today}`);
  if (daysBetween(today, block.day) > MAX_DAYS_AHEAD)
    return because('CH03', 'invalid_format', `ReqdExctnDt must be at most ${MAX_DAYS_AHEAD} days from today, ${today}`);
  if (!payer) return because('AC02', 'currency_account_not_found', 'DbtrAcct is not an account of the client');
  if (used) return because('DU02', 'already_exists', 'PmtInfId is used by an earlier block of the file');
  return undefined;
}

/** What each transaction adds to its instruction, in order, by block. */
function besideRows({ blocks }: Initiation): Map<Block, RowBeside[]> {
  const seen = new Set<string>();
  return new Map(
    blocks.map((block) => [
      block,
      block.transactions.map(({ extra: { faults = [], ...origin } }) => {
        const { uuid } = origin;
        const repeated = uuid !== undefined && seen.has(uuid);
        if (uuid !== undefined) seen.add(uuid);
        return { origin, faults: [...faults, ...(repeated ? [REPEATED] : [])] as RowFault[] };
      }),
    ]),
  );
}

const REPEATED: RowFault = {
  field: 'uuid',
  code: 'already_exists',
  message: 'is the UETR of an earlier transaction of the file',
};

interface TakenBlock {
  orderer: Orderer;
  table: BankTable;
  block: Block;
  payer: Payer;
  initiation: Initiation;
  beside: ReadonlyMap<Block, RowBeside[]>;
}

/** @returns the identifier of the mass payment */
async function takeBlock(
  tx: Transaction,
  act: Act,
  { orderer, table, block, payer, initiation, beside }: TakenBlock,
): Promise<string> {
  const document = parseJson(`[${block.transactions.map(({ text }) => text).join(',')}]`);
  const file: NewFile = {
    ...{ orderer, externalReferenceId: EXTERNAL_REFERENCE.test(block.id) ? block.id : randomUUID(), autoCommit: true },
    ...{ partial: true, source: { sellCurrency: payer.currency, accountId: payer.account_id, reason: 'other' } },
    ...{ paymentInitiationId: initiation.messageId, paymentInformationId: block.id },
    ...{ rows: await readRows(document, listOf(document), { table }), beside: beside.get(block) ?? [] },
  };
  try {
    return (await takeFile(tx, act, file)).mass_payment_id;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'already_exists') throw error;
    return (await takeFile(tx, act, { ...file, externalReferenceId: randomUUID() })).mass_payment_id;
  }
}

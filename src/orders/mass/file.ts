import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import type { BankTable } from '../../beneficiaries/bank-table.ts';
import { newId } from '../../database/cells/identifiers.ts';
import { type Columns, writeRows } from '../../database/copy.ts';
import { first, leaveWork, type Transaction } from '../../database/database.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import { Problem } from '../../values/errors.ts';
import { rowsOfCsv } from '../csv-rows.ts';
import { type Instruction, ROW_FIELDS, readRow, sameInstruction } from '../instructions/row.ts';
import type { Source } from '../instructions/scene.ts';
import { type RowFault, repeated } from '../rows.ts';
import { inTurns } from '../turns.ts';
import type { MassPayment } from './declaration.ts';
import { findMassPayment } from './reading.ts';

/** What a pain.001 adds to the instruction of a row. */
export interface StoredOrigin {
  end_to_end_id?: string;
  uuid?: string;
  charges?: 'SHA' | 'OUR';
  reason?: Source['reason'];
}

/** What is stored of a row beside its instruction. */
export interface RowBeside {
  origin: StoredOrigin;
  /** Faults that the instruction does not show. */
  faults: readonly RowFault[];
}

/** A file to be accepted. */
export interface NewFile {
  orderer: Orderer;
  externalReferenceId: string;
  autoCommit: boolean;
  /** Whether its rows are cells of a CSV. */
  texts?: boolean;
  /** Whether it goes on without its bad rows. */
  partial?: boolean;
  source: Source;
  /** A decimal. */
  maximumSellAmount?: string | undefined;
  paymentInitiationId?: string | undefined;
  paymentInformationId?: string | undefined;
  rows: readonly Instruction[];
  /** By the index of the row. */
  beside?: readonly RowBeside[];
}

/** The instructions of a CSV whose first row names its columns. @throws Problem invalid_body */
export async function instructionsOfCsv(text: string, table: BankTable): Promise<Instruction[]> {
  const rows = await rowsOfCsv(text, ROW_FIELDS, 'an instruction');
  return inTurns(rows, (some) =>
    some.map(({ index, cells, faults }) => {
      const row = readRow(cells, index, { table, texts: true });
      return Object.assign(row, { faults: [...faults, ...row.faults] });
    }),
  );
}

/**
 * Accepts a file. It is stored unchanged and judged soon.
 * @throws Problem trade_not_found, currency_account_not_found, already_exists
 */
export async function takeFile(tx: Transaction, act: Act, file: NewFile): Promise<MassPayment> {
  const { orderer, source, rows } = file;
  const { clientId, contactId } = orderer;
  await requireExisting(tx, clientId, source);
  const id = await newId(tx, clientId, 'mass_payment_id');
  const { rowCount } = await tx.query(
    `insert into mass_payments (mass_payment_id, client_id, external_reference_id, status, auto_commit, partial, sell_currency, trade_id,
       funding_account_id, reason, maximum_sell_amount, payment_initiation_id, payment_information_id, created_by, created_at, received, texts)
     values ($1, $2, $3, 'Queued for processing', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
     on conflict (client_id, external_reference_id) do nothing`,
    [
      ...[
        id,
        clientId,
        file.externalReferenceId,
        file.autoCommit,
        file.partial ?? false,
        source.sellCurrency,
        source.tradeId,
      ],
      ...[source.accountId, source.reason, file.maximumSellAmount, file.paymentInitiationId, file.paymentInformationId],
      ...[contactId, act.now, rows.length, file.texts ?? false],
    ].map((value) => value ?? null),
  );
  if (rowCount === 0)
    throw new Problem('already_exists', {
      field: 'external_reference_id',
      message: 'the client has a mass payment with this reference already',
    });
  const same = (row: Instruction) => sameInstruction(row, [file.beside?.[row.index]?.origin.end_to_end_id ?? null]);
  const duplicates = repeated(await inTurns(rows, (some) => some.map(same)));
  const stored = rows.map((row, place) => ({ row, duplicate: duplicates[place], beside: file.beside?.[row.index] }));
  const columns: Columns<(typeof stored)[number]> = {
    client_id: () => clientId,
    mass_payment_id: () => id,
    request_index: ({ row }) => row.index,
    sent: ({ row }) => JSON.stringify(row.shown),
    duplicate: ({ duplicate }) => duplicate,
    origin: ({ beside }) => beside && JSON.stringify(beside.origin),
    // Faults of the row as a whole, which its fields do not show.
    faults: ({ row, beside }) => {
      const given = [...(beside?.faults ?? []), ...row.faults.filter(({ field }) => field === '')];
      return given.length > 0 ? JSON.stringify(given) : null;
    },
  };
  await writeRows(tx, 'mass_payment_rows', columns, stored);
  leaveWork(tx, 'orders');
  const made = await findMassPayment(tx, id, clientId);
  audit(tx, act, { action: 'create', entity: 'mass_payment', entityId: id, clientId, after: made });
  return made;
}

/** @throws Problem trade_not_found, currency_account_not_found */
async function requireExisting(tx: Transaction, clientId: string, { tradeId, accountId }: Source): Promise<void> {
  const found = first(
    await tx.query<{ trade: boolean; account: boolean }>(
      `select exists (select from trades where client_id = $1 and trade_id = $2) as trade,
         exists (select from currency_accounts where client_id = $1 and account_id = $3) as account`,
      [clientId, tradeId ?? null, accountId ?? null],
    ),
  );
  if (tradeId !== undefined && !found?.trade)
    throw new Problem('trade_not_found', { field: 'trade_id', message: 'does not exist for this client' });
  if (accountId !== undefined && !found?.account)
    throw new Problem('currency_account_not_found', {
      field: 'funding_account_id',
      message: 'does not exist for this client',
    });
}

import { overCells, unionOfCells } from '../../database/cells/union.ts';
import type { Db } from '../../database/database.ts';
import { first } from '../../database/database.ts';
import { type List, type ListRequest, listRows } from '../../database/rows.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { Exact, exact, keepDigits } from '../../values/json.ts';
import type { AnsweredFault } from '../rows.ts';
import { MASS_PAYMENT, type MassPayment, type MassStatus } from './declaration.ts';

/** A filter for mass payments. */
export interface MassFilter extends ListRequest {
  massPaymentId?: string | undefined;
  externalReferenceId?: string | undefined;
  status?: MassStatus | undefined;
}

const COLUMNS = MASS_PAYMENT.selectFrom('m');

interface Row extends Record<string, unknown> {
  sell_amount: string | null;
  sums: { currency: string; amount: string; payments: number }[];
}

function shown(row: Row): MassPayment {
  return {
    ...row,
    sell_amount: exact(row.sell_amount),
    sums: row.sums.map((each) => ({ ...each, amount: new Exact(each.amount) })),
  } as unknown as MassPayment;
}

/** A page of mass payments, the newest first. */
export async function listMassPayments(
  db: Db,
  { massPaymentId, externalReferenceId, status, ...request }: MassFilter,
): Promise<List<MassPayment>> {
  if (massPaymentId !== undefined && !isUuid(massPaymentId)) return { rows: [], total: 0 };
  const filters = [
    ['m.mass_payment_id = ?::uuid', massPaymentId],
    ['m.external_reference_id = ?', externalReferenceId],
    ['m.status = ?', status],
  ] as const;
  const list = {
    ...{ select: COLUMNS, from: 'mass_payments m', client: 'm.client_id' },
    ...{ order: 'm.created_at desc, m.mass_payment_id desc', filters },
  };
  const { rows, total } = await listRows<Row>(db, list, request);
  return { rows: rows.map(shown), total };
}

const CALLED = ['external_reference_id', 'payment_initiation_id', 'payment_information_id'] as const;
const NAMED = `select mass_payment_id from mass_payments where mass_payment_id = $2
  ${CALLED.map(
    (column) => `union select mass_payment_id from mass_payments
    where client_id = any(array(select client_id from clients)) and ${column} = $1`,
  ).join('\n')}
  order by 1 limit $3`;

/** The mass payments of all clients that a text names: by identifier, by the client's own reference, or by an identifier from a pain.001. */
export async function massPaymentsNamed(db: Db, text: string, limit: number): Promise<MassPayment[]> {
  const named = unionOfCells(db, 'mass_payments')?.(NAMED) ?? NAMED;
  const { rows } = await db.query<{ id: string }>(`select mass_payment_id as id from (${named}) n`, [
    ...[text, isUuid(text) ? text : null, limit],
  ]);
  const ids = rows.slice(0, limit).map(({ id }) => id);
  return ids.length > 0 ? readMassPayments(db, ids) : [];
}

/** A mass payment of one client, or of any client (undefined). @throws Problem mass_payment_not_found */
export async function findMassPayment(db: Db, id: string, clientId?: string): Promise<MassPayment> {
  const found = isUuid(id) ? (await readMassPayments(db, [id], clientId))[0] : undefined;
  return found ?? noMassPayment();
}

/** Mass payments, in any order, for the change feed. */
export async function readMassPayments(db: Db, ids: readonly string[], clientId?: string): Promise<MassPayment[]> {
  const text = `select ${COLUMNS} from mass_payments m
    where m.mass_payment_id = any($1::uuid[])${clientId === undefined ? '' : ' and m.client_id = $2'}`;
  const { rows } = await db.query<Row>(
    overCells(db, 'mass_payments', text),
    clientId === undefined ? [ids] : [ids, clientId],
  );
  return rows.map(shown);
}

/** @throws Problem mass_payment_not_found, always */
export function noMassPayment(): never {
  throw new Problem('mass_payment_not_found', { field: 'mass_payment_id', message: 'does not exist for this client' });
}

interface Page {
  clientId: string;
  id: string;
  page: number;
  pageSize: number;
}

/** A page of the rows of a file, in order. @throws Problem mass_payment_not_found */
export async function listReceived(db: Db, page: Page): Promise<{ texts: string[]; total: number }> {
  const { received } = await countsOf(db, page);
  const rows = await rowsOf(db, page, { select: 'status, payment_id, beneficiary_id', where: 'true' });
  const texts = rows.map(({ sent, request_index: index, status, payment_id, beneficiary_id }) =>
    beside(sent, { request_index: index, status, payment_id, beneficiary_id }),
  );
  return { texts, total: received };
}

/** A page of the rows that cannot be done, as they were sent, each with its faults. @throws Problem mass_payment_not_found */
export async function listErrored(db: Db, page: Page): Promise<{ texts: string[]; total: number }> {
  const { errored } = await countsOf(db, page);
  const rows = await rowsOf(db, page, { select: 'errors', where: "status = 'invalid'" });
  return {
    texts: rows.map(({ sent, errors, request_index: index }) => beside(sent, { errors, request_index: index })),
    total: errored,
  };
}

async function countsOf(db: Db, { clientId, id }: Page): Promise<{ received: number; errored: number }> {
  if (!isUuid(id)) noMassPayment();
  const found = first(
    await db.query<{ received: number; errored: number }>(
      'select received, errored from mass_payments where client_id = $1 and mass_payment_id = $2',
      [clientId, id],
    ),
  );
  return found ?? noMassPayment();
}

interface Stored extends Record<string, unknown> {
  sent: string;
  request_index: number;
  errors?: AnsweredFault[];
}

async function rowsOf(
  db: Db,
  { clientId, id, page, pageSize }: Page,
  { select, where }: { select: string; where: string },
): Promise<Stored[]> {
  const { rows } = await db.query<Stored>(
    `select sent::text as sent, request_index, ${select} from mass_payment_rows
     where client_id = $1 and mass_payment_id = $2 and ${where} order by request_index limit $3 offset $4`,
    [clientId, id, pageSize, (page - 1) * pageSize],
  );
  return rows;
}

/** Adds fields to the JSON text of an object as it was sent. Each takes the place of one of the same name, and no digit is lost. */
function beside(sent: string, fields: object): string {
  return JSON.stringify({ ...(JSON.parse(sent, keepDigits) as object), ...fields });
}

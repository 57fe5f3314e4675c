import { homesOfClients } from '../../database/cells/directory.ts';
import { hasSeveralCells } from '../../database/cells/pool.ts';
import { inCell } from '../../database/cells/scope.ts';
import { unionOfCells } from '../../database/cells/union.ts';
import type { Db } from '../../database/database.ts';
import { shownTotal } from '../../database/rows.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import type { Presentation } from '../presentation.ts';
import { searchPayments } from './search.ts';
import type { PaymentSearch } from './search-parameters.ts';

/** The most clients in one answer. If more clients use the same reference, client_id is required. */
const MAX_CLIENTS = 100;

/** A search of the institution: payments of one client, or those that an identifier, a UETR or a reference names. */
export interface InstitutionSearch {
  clientId: string | undefined;
  /** The SWIFT UETR. */
  uuid: string | undefined;
  search: PaymentSearch;
  now: Date;
}

/** A page of payments. Without a client, more than 10,000 are not counted. */
interface InstitutionPage {
  total: number | undefined;
  body: string;
}

/**
 * Searches like clients do, but for the institution (docs/operator-interface.md, Find things). Without a client, payments are grouped by
 * client, in the order of the clients' identifiers.
 * @throws Problem missing_parameter unless a client, an identifier, a UETR or a reference is given; invalid_parameter
 */
export async function searchForInstitution(
  db: Db,
  presentation: Presentation,
  { clientId, uuid, search, now }: InstitutionSearch,
): Promise<InstitutionPage> {
  const wanted = uuid === undefined ? search : await withUetr(db, search, uuid);
  const clients = clientId === undefined ? await clientsOf(db, wanted) : [clientId];
  const homes = clientId === undefined && hasSeveralCells(db) ? await homesOfClients(db, clients) : undefined;
  const bodies: string[] = [];
  let total = 0;
  let left = wanted.pageSize;
  for (const client of clients) {
    const view = { ...presentation, clientId: client, viewer: null, institution: true, now };
    const own = { ...wanted, offset: Math.max(0, wanted.offset - total), pageSize: Math.max(1, left) };
    const page = await (homes
      ? inCell(homes.get(client)?.cell ?? 'none', () => searchPayments(db, view, own))
      : searchPayments(db, view, own));
    const count = Math.min(left, Math.max(0, page.total - own.offset));
    total += page.total;
    if (count > 0) bodies.push(page.body.slice(1, -1));
    left -= count;
  }
  return { total: shownTotal(total, clientId === undefined), body: `[${bodies.join(',')}]` };
}

/** Adds the payment that a UETR names; there is at most one. */
async function withUetr(db: Db, search: PaymentSearch, uuid: string): Promise<PaymentSearch> {
  const text = 'select payment_id from payments where uuid = $1';
  const { rows } = isUuid(uuid)
    ? await db.query<{ payment_id: string }>(unionOfCells(db, 'payments')?.(text) ?? text, [uuid])
    : { rows: [] };
  const named = rows.map((row) => row.payment_id);
  return { ...search, paymentIds: search.paymentIds ? named.filter((id) => search.paymentIds?.includes(id)) : named };
}

/** The clients of the payments that the search names. */
async function clientsOf(db: Db, { paymentIds, reference }: PaymentSearch): Promise<string[]> {
  if (paymentIds === undefined && reference === undefined) {
    throw new Problem('missing_parameter', {
      field: 'client_id',
      message: 'is required unless payment_ids, uuid or reference is given',
    });
  }
  // The index by reference begins with the client, so it is searched once for each client.
  const named = paymentIds
    ? 'select client_id from payments where payment_id = any($1)'
    : 'select client_id from payments where client_id = any(array(select client_id from clients)) and reference = $1';
  const { rows } = await db.query<{ client_id: string }>(
    `select distinct client_id from (${unionOfCells(db, 'payments')?.(named) ?? named}) p order by client_id limit $2`,
    [paymentIds ?? reference, MAX_CLIENTS + 1],
  );
  if (rows.length > MAX_CLIENTS) {
    throw new Problem('invalid_parameter', {
      field: 'client_id',
      message: `is required: more than ${MAX_CLIENTS} clients have such payments`,
    });
  }
  return rows.map((row) => row.client_id);
}

import type { Act } from '../audit/act.ts';
import { inCellsOf } from '../database/cells/directory.ts';
import type { Transaction } from '../database/database.ts';
import { permittedContacts } from './approvers.ts';
import { takeLock } from './lock.ts';
import { BEGINNING, nextPlaces, type Place, refreshPayments } from './refresh-batch.ts';

/**
 * The most approver rows (payments times permitted people) that a change of permissions updates itself, which takes some tens of
 * milliseconds. The worker does the rest (refresher.ts).
 */
const MAX_ROWS_AT_ONCE = 10_000;
/** The most distinct states that it evaluates itself. A large ruleset takes a millisecond for each. */
const MAX_STATES_AT_ONCE = 50;

/** The number of locks that one transaction takes without checking who needs them. PostgreSQL holds some thousand locks in all. */
const MAX_LOCKS = 1_000;

/**
 * Updates who may act on the clients' pending payments. It is called after contacts gain or lose `can_authorise_payments`, join or leave a
 * client, or are enabled or disabled, and runs in that transaction. A client with few pending payments is up to date at the commit. For a
 * client with many, the worker does the rest. Meanwhile a contact who lost the permission can no longer use it, because the search and the
 * approvals check the permission itself.
 */
export async function refreshApprovers(tx: Transaction, act: Act, ...clientIds: string[]): Promise<void> {
  if (clientIds.length > 0)
    await inCellsOf(tx, clientIds, (ofCell, begin) => refreshInCell(tx, act, { clientIds: ofCell, begin }));
}

/** The clients of one cell, and what must be called before one of their payments changes. */
interface Part {
  clientIds: string[];
  begin: () => Promise<void>;
}

async function refreshInCell(tx: Transaction, act: Act, { clientIds, begin }: Part): Promise<void> {
  const clients = clientIds.length > MAX_LOCKS ? await withApprovals(tx, clientIds) : clientIds;
  // A transaction that creates a payment or acts on one either saw the former permissions and has committed, or will see the new ones.
  await takeLock(tx, ...clients);
  let rowsLeft = MAX_ROWS_AT_ONCE;
  for (const clientId of clients) rowsLeft -= await refreshClient(tx, act, { clientId, maxRows: rowsLeft, begin });
}

/** The clients that have approvals. An import of contacts can name more clients than there are locks; clients without approvals need none. */
async function withApprovals(tx: Transaction, clientIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ client_id: string }>(
    `select client_id from clients where client_id = any($1) and (payment_approvals_enabled or client_id in (
       select client_id from payment_approvals where client_id = any($1) and status = 'Pending approval'))`,
    [clientIds],
  );
  return rows.map((row) => row.client_id);
}

/** Refreshes a client, or leaves that to the worker. @returns the number of rows examined */
async function refreshClient(
  tx: Transaction,
  act: Act,
  { clientId, maxRows, begin }: Pick<Part, 'begin'> & { clientId: string; maxRows: number },
): Promise<number> {
  const permitted = await permittedContacts(tx, clientId);
  const rowsOfPayment = permitted.size + 1;
  const most = Math.max(0, Math.floor(maxRows / rowsOfPayment));
  const places = await nextPlaces(tx, clientId, { after: BEGINNING, limit: most + 1 });
  if (places.length === 0) return 0;
  if (places.length > most || countStates(places) > MAX_STATES_AT_ONCE) {
    await requestRefresh(tx, act, clientId);
    return 0;
  }
  const ids = places.map((place) => place.payment_id);
  await begin();
  const held = await refreshPayments(tx, act, { clientId, permitted, ids });
  if (held.length > 0) await requestRefresh(tx, act, clientId);
  return places.length * rowsOfPayment;
}

function countStates(places: readonly Place[]): number {
  return new Set(places.map(({ state }) => state.toString('hex'))).size;
}

/** Asks the worker to go through all pending payments of a client. If it is already doing so, it starts over. */
async function requestRefresh(tx: Transaction, act: Act, clientId: string): Promise<void> {
  await tx.query(
    `insert into approver_refreshes (client_id, actor, request_id, quiet, requested_at) values ($1, $2, $3, $4, $5)
     on conflict (client_id) do update set actor = excluded.actor, request_id = excluded.request_id, quiet = excluded.quiet,
       requested_at = excluded.requested_at, state = default, payment_id = default, held = default`,
    [clientId, act.actor, act.requestId, act.quiet ?? false, act.now],
  );
}

import type { Act } from '../audit/act.ts';
import { inCellsOf } from '../database/cells/directory.ts';
import type { Transaction } from '../database/database.ts';
import { permittedContacts } from './approvers.ts';
import { takeLock } from './lock.ts';
import { BEGINNING, nextPlaces, type Place, refreshPayments } from './refresh-batch.ts';

/**
 * Rows of approvers that a change of permissions looks at itself: its payments times the people who are permitted. It takes some tens of
 * milliseconds. The worker does the rest (refresher.ts).
 */
const MAX_ROWS_AT_ONCE = 10_000;
/** Distinct states that it evaluates itself: a large ruleset takes a millisecond for each. */
const MAX_STATES_AT_ONCE = 50;

/** Locks that one transaction takes without asking who needs them: PostgreSQL holds some thousand locks in all. */
const MAX_LOCKS = 1_000;

/**
 * Updates who may act on the clients' pending payments, after contacts got or lost `can_authorise_payments`, joined or left the client,
 * or were enabled or disabled. It runs in the transaction of that change. A client with few pending payments is up to date when that
 * commits. For a client with many, the worker does the rest. Meanwhile a contact who lost the permission neither sees nor does anything with it,
 * because the search and the approvals look at the permission itself.
 */
export async function refreshApprovers(tx: Transaction, act: Act, ...clientIds: string[]): Promise<void> {
  if (clientIds.length > 0)
    await inCellsOf(tx, clientIds, (ofCell, begin) => refreshInCell(tx, act, { clientIds: ofCell, begin }));
}

/** The clients of one cell, and what is called before one of their payments changes. */
interface Part {
  clientIds: string[];
  begin: () => Promise<void>;
}

async function refreshInCell(tx: Transaction, act: Act, { clientIds, begin }: Part): Promise<void> {
  const clients = clientIds.length > MAX_LOCKS ? await withApprovals(tx, clientIds) : clientIds;
  // A transaction that creates a payment or acts on one has seen the former permissions and has committed now, or will see the new ones.
  await takeLock(tx, ...clients);
  let rowsLeft = MAX_ROWS_AT_ONCE;
  for (const clientId of clients) rowsLeft -= await refreshClient(tx, act, { clientId, maxRows: rowsLeft, begin });
}

/** An import of contacts can name more clients than there are locks. Clients without approvals need none. */
async function withApprovals(tx: Transaction, clientIds: string[]): Promise<string[]> {
  const { rows } = await tx.query<{ client_id: string }>(
    `select client_id from clients where client_id = any($1) and (payment_approvals_enabled or client_id in (
       select client_id from payment_approvals where client_id = any($1) and status = 'Pending approval'))`,
    [clientIds],
  );
  return rows.map((row) => row.client_id);
}

/** Refreshes a client, or leaves that to the worker. @returns how many rows it looked at */
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

/** Lets the worker go through all pending payments of a client, from the beginning if it has already started. */
async function requestRefresh(tx: Transaction, act: Act, clientId: string): Promise<void> {
  await tx.query(
    `insert into approver_refreshes (client_id, actor, request_id, quiet, requested_at) values ($1, $2, $3, $4, $5)
     on conflict (client_id) do update set actor = excluded.actor, request_id = excluded.request_id, quiet = excluded.quiet,
       requested_at = excluded.requested_at, state = default, payment_id = default, held = default`,
    [clientId, act.actor, act.requestId, act.quiet ?? false, act.now],
  );
}

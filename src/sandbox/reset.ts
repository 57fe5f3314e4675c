import { takeLock } from '../approvals/lock.ts';
import type { Act } from '../audit/act.ts';
import { attempt } from '../audit/attempt.ts';
import { keyOf, noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { releaseClaims } from '../database/cells/identifiers.ts';
import type { Transaction } from '../database/database.ts';
import { idsOf, KINDS, REMOVED_KINDS, TOLD_KINDS, tablesOf } from '../database/kinds.ts';
import { lendRates } from '../exchange/exchange-rates.ts';
import { readRecords } from '../feed/records.ts';
import type { ImportScope } from '../imports/kind.ts';
import { forgetAnswers } from '../operator/idempotency.ts';
import type { Presentation } from '../payments/presentation.ts';
import { codeOf } from '../values/unknown.ts';
import { removeNotifications } from '../webhooks/history.ts';
import { DEMO_RATES } from './demonstration/banks.ts';
import { isDemonstrated, putClientData } from './demonstration/demonstration.ts';

/**
 * Removes a client's data, in the caller's transaction (docs/sandbox.md, Start again). If the demonstration made the client, its data is
 * made again. Nobody is notified, and pending deliveries are not sent. The whole has one audit row. Contacts, tokens, applications and
 * subscriptions stay.
 */
export async function resetClient(
  tx: Transaction,
  act: Act,
  { clientId, scope }: { clientId: string; scope: Pick<ImportScope, 'vault' | 'presentation'> },
): Promise<void> {
  // Nobody can create payments of the client, or act on them, until it is done.
  await takeLock(tx, clientId);
  // Written first, so that the change feed has the cause before its effects.
  audit(tx, act, {
    action: 'action',
    entity: 'client',
    entityId: clientId,
    clientId,
    after: { action: 'reset' },
  });
  await removeRecords(tx, act, { clientId, presentation: scope.presentation });
  await removeNotifications(tx, clientId);
  forgetAnswers(tx, clientId);
  if (await isDemonstrated(tx, clientId)) {
    const made: Act = { ...act, actor: 'service:demonstration', summarised: true };
    // The institution may have replaced the rates that the demonstration's payments need.
    await lendRates(tx, { base_currency: 'GBP', rates: DEMO_RATES }, () =>
      putClientData(tx, { ...scope, act: made, notify: false }, (id) => id === clientId),
    );
  }
}

/** How often the removal starts over before the caller gets an error. */
const MAX_ATTEMPTS = 20;
const LOCK_ACCOUNTS = 'select from currency_accounts where client_id = $1 order by account_id for no key update';
const FOREIGN_KEY_VIOLATION = '23503';

/** Somebody made a record after the records to be removed were noted. */
class Overtaken extends Error {}

/**
 * Removes exactly the records that the change feed reports as removed. The core and the contacts go on meanwhile. If they have made a
 * record after the others were noted, or refer to one that is to be removed, the removal starts over.
 */
async function removeRecords(
  tx: Transaction,
  act: Act,
  request: { clientId: string; presentation: Presentation },
): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(tx, async () => {
        const noted = await noteReset(tx, act, request);
        for (const table of REMOVED_KINDS.flatMap(tablesOf)) {
          // Whoever closes holds has locked their accounts, after the payments.
          if (table === 'holds') await tx.query(LOCK_ACCOUNTS, [request.clientId]);
          await releaseClaims(tx, table, request.clientId);
          const { rowCount } = await tx.query(`delete from ${table} where client_id = $1`, [request.clientId]);
          if (noted.has(table) && rowCount !== noted.get(table)) throw new Overtaken(`${table} has changed`);
        }
        // Without their trades they would wait for ever to be added, and so would a move of the client to another cell.
        await tx.query('delete from trade_allocation_deltas where client_id = $1', [request.clientId]);
      });
    } catch (error) {
      const isOvertaken = error instanceof Overtaken || codeOf(error) === FOREIGN_KEY_VIOLATION;
      if (!isOvertaken || attempts === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Notes in advance that all records of a client are removed. What is made again afterwards continues with its next version.
 * @returns the number of rows that were noted in each table
 */
async function noteReset(
  tx: Transaction,
  act: Act,
  { clientId, presentation }: { clientId: string; presentation: Presentation },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const entity of TOLD_KINDS) {
    const { table, ids } = KINDS[entity];
    const { rows } = await tx.query<{ id: string }>(idsOf(entity), [clientId]);
    const removed = rows.map(({ id }) => ({ entity, id, clientId, action: 'delete' }));
    const records = await readRecords(tx, removed, { now: act.now, presentation });
    for (const change of removed)
      noteChange(tx, act, { ...change, deleted: records.get(keyOf(entity, change.id))?.text ?? '{}' });
    // The rows of approvals belong to payments.
    if (!ids) counts.set(table, rows.length);
  }
  return counts;
}

import type { Act } from '../audit/act.ts';
import { type ChangeEntity, keyOf, noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import type { Presentation } from '../payments/presentation.ts';
import { readRecords } from './records.ts';

/** The records of a client that a reset removes, each before those that it refers to: the table whose rows they are, and their identifiers. */
const REMOVED: [entity: ChangeEntity, table: string, id: string][] = [
  ['statement_request', 'statement_requests', 'statement_id::text'],
  ['transaction', 'transactions', 'transaction_id'],
  ['currency_account', 'currency_accounts', 'account_id::text'],
  ['account', 'accounts', 'account_id::text'],
  ['payment', 'payments', 'payment_id'],
  ['trade', 'trades', 'trade_id'],
  ['multipayment', 'multipayments', 'multipayment_id::text'],
  ['beneficiary', 'beneficiaries', 'beneficiary_id'],
  ['mass_beneficiary', 'mass_beneficiaries', 'mass_beneficiary_id::text'],
  ['approval_configuration', 'approval_configurations', 'client_id'],
];
const APPROVALS = `select p.payment_id || '/' || (a.value->>'contact_id') as id
  from payment_approvals pa join payments p on p.client_id = pa.client_id and p.id = pa.payment_id,
    json_array_elements(pa.authorisations) a where pa.client_id = $1`;

/**
 * Notes, before it happens, that everything of a client is removed. What is made again afterwards goes on with its next version.
 * @returns how many rows of each table were noted
 */
export async function noteReset(
  tx: Transaction,
  act: Act,
  { clientId, presentation }: { clientId: string; presentation: Presentation },
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const note = async (entity: ChangeEntity, sql: string) => {
    const { rows } = await tx.query<{ id: string }>(sql, [clientId]);
    const removed = rows.map(({ id }) => ({ entity, id, clientId, action: 'delete' }));
    const records = await readRecords(tx, removed, { now: act.now, presentation });
    for (const change of removed)
      noteChange(tx, act, { ...change, deleted: records.get(keyOf(entity, change.id))?.text ?? '{}' });
    return rows.length;
  };
  for (const [entity, table, id] of REMOVED) {
    if (entity === 'payment') await note('approval', APPROVALS);
    counts.set(table, await note(entity, `select ${id} as id from ${table} where client_id = $1`));
  }
  return counts;
}

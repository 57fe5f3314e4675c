import { type ChangeEntity, keyOf, noteChange } from '../change.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import type { Presentation } from '../payments/presentation.ts';
import { readRecords } from './records.ts';

/** The records of a client that a reset removes, each before those that it refers to, with the SQL of their identifiers. */
const REMOVED: [ChangeEntity, string][] = [
  ['statement_request', 'select statement_id::text as id from statement_requests where client_id = $1'],
  ['transaction', 'select transaction_id as id from transactions where client_id = $1'],
  ['currency_account', 'select account_id::text as id from currency_accounts where client_id = $1'],
  ['account', 'select account_id::text as id from accounts where client_id = $1'],
  [
    'approval',
    `select p.payment_id || '/' || (a.value->>'contact_id') as id
     from payment_approvals pa join payments p on p.client_id = pa.client_id and p.id = pa.payment_id,
       json_array_elements(pa.authorisations) a where pa.client_id = $1`,
  ],
  ['payment', 'select payment_id as id from payments where client_id = $1'],
  ['trade', 'select trade_id as id from trades where client_id = $1'],
  ['multipayment', 'select multipayment_id::text as id from multipayments where client_id = $1'],
  ['beneficiary', 'select beneficiary_id as id from beneficiaries where client_id = $1'],
  ['mass_beneficiary', 'select mass_beneficiary_id::text as id from mass_beneficiaries where client_id = $1'],
  ['approval_configuration', 'select distinct client_id as id from approval_configurations where client_id = $1'],
];

/** Notes, before it happens, that everything of a client is removed. What is made again afterwards goes on with its next version. */
export async function noteReset(
  tx: Transaction,
  act: Act,
  presentation: Presentation,
  clientId: string,
): Promise<void> {
  for (const [entity, ids] of REMOVED) {
    const { rows } = await tx.query<{ id: string }>(ids, [clientId]);
    const removed = rows.map(({ id }) => ({ entity, id, clientId, action: 'delete' }));
    const records = await readRecords(tx, removed, { now: act.now, presentation });
    for (const change of removed)
      noteChange(tx, act, { ...change, deleted: records.get(keyOf(entity, change.id))?.text ?? '{}' });
  }
}

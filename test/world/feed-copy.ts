import assert from 'node:assert/strict';
import type { TestService } from './service.ts';

/** A change in the form of the feed's page. */
export interface Change {
  cursor: string;
  entity: string;
  entity_id: string;
  version: number;
  action: string;
  actor: string;
  request_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: each entity has its own record
  data: any;
}

/**
 * What a reader knows after all changes: the newest version of each existing record.
 * @throws if a version is missing, duplicated or out of order
 */
export function copyOf(read: readonly Change[]): Map<string, Change> {
  const versions = new Map<string, number>();
  const copy = new Map<string, Change>();
  for (const change of read) {
    const key = `${change.entity} ${change.entity_id}`;
    assert.equal(change.version, (versions.get(key) ?? 0) + 1, `${key} has its versions in order`);
    versions.set(key, change.version);
    if (change.action === 'delete') copy.delete(key);
    else copy.set(key, change);
  }
  const cursors = read.map((change) => change.cursor);
  assert.deepEqual([...cursors].sort(), cursors);
  return copy;
}

const FLAG = /^beneficiary_(active|authorised|blocked|completed|verified)$/;

/** A record without the data of other records: names of contacts, and flags of a payment's beneficiary (docs/change-feed.md). */
function ownFields(record: unknown): unknown {
  if (Array.isArray(record)) return record.map(ownFields);
  if (typeof record !== 'object' || record === null) return record;
  const { ordered_by_name, contact_name, ...own } = record as Record<string, unknown>;
  const kept = Object.entries(own).filter(([name]) => !('payment_id' in own && FLAG.test(name)));
  return Object.fromEntries(kept.map(([name, value]) => [name, ownFields(value)]));
}

/** Checks that the copy has every record of the tables, in the form that the operator reads. */
export async function compareCopy(
  service: Pick<TestService, 'operator' | 'query'>,
  copy: Map<string, Change>,
): Promise<void> {
  const tables: [entity: string, column: string, table: string, path?: string][] = [
    ['client', 'client_id', 'clients'],
    ['contact', 'contact_id', 'contacts'],
    ['trade', 'trade_id', 'trades'],
    ['beneficiary', 'beneficiary_id', 'beneficiaries'],
    ['payment', 'payment_id', 'payments'],
    ['transaction', 'transaction_id', 'transactions'],
    ['currency_account', 'account_id', 'currency_accounts'],
    ['account', 'account_id', 'accounts'],
    ['quote', 'quote_id', 'quotes'],
    ['mass_payment', 'mass_payment_id', 'mass_payments'],
    ['mass_beneficiary', 'mass_beneficiary_id', 'mass_beneficiaries'],
    ['statement_request', 'statement_id', 'statement_requests', 'statements'],
    [
      'approval_configuration',
      'client_id',
      '(select distinct client_id from approval_configurations) c',
      'approvals-configurations',
    ],
  ];
  for (const [entity, column, table, path = table.replace('_', '-')] of tables) {
    const { rows } = await service.query(`select ${column}::text as id from ${table}`);
    const known = [...copy.values()].filter((change) => change.entity === entity).map((change) => change.entity_id);
    assert.deepEqual(known.sort(), rows.map(({ id }) => id).sort(), `${table} are complete`);
    for (const { id } of rows) {
      const { body } = await service.operator('GET', `/${path}/${id}`);
      if (entity === 'currency_account') {
        delete body.held;
        delete body.available;
      }
      // An open quote that nobody books expires without a change.
      if (entity === 'quote' && body.status === 'expired') body.status = 'open';
      assert.deepEqual(ownFields(copy.get(`${entity} ${id}`)?.data), ownFields(body), `${entity} ${id}`);
    }
  }
  const decided = await service.query(
    `select p.payment_id || '/' || (a.value->>'contact_id') as id, (a.value->>'status')::int as status
     from payment_approvals pa join payments p on p.id = pa.payment_id, json_array_elements(pa.authorisations) a`,
  );
  for (const { id, status } of decided.rows)
    assert.equal(copy.get(`approval ${id}`)?.data.decision, status === 1 ? 'authorise' : 'reject', id);
  const approvals = [...copy.values()].filter((change) => change.entity === 'approval');
  assert.equal(approvals.length, decided.rows.length);
}

import assert from 'node:assert/strict';
import { call } from '../../world/service.ts';
import { OPERATOR_TOKEN } from '../system.ts';
import type { Round } from './round.ts';

/** Where the name of a person can stand, each with a text of its row. */
const PLACES: Record<string, string> = {
  contacts: 'name || email || coalesce(phone, $$$$)',
  audit: 'coalesce(before::text, $$$$) || coalesce(after::text, $$$$)',
  changes: 'body',
  payments: 'payments::text',
  payment_approvals: 'authorisations::text',
  statement_requests: 'contact_name || email',
  mailbox: 'mail::text',
  import_errors: 'import_errors::text',
};

/** A person whose erasure was answered is gone: from its record, the audit trail, the feed, and from what else names people. */
export async function personsErased({ system, known }: Round): Promise<void> {
  const faults: string[] = [];
  for (const { contactId, erasureId } of known.erasures) {
    const operator = async (path: string) =>
      (await call(`${system.fronts[0]?.operator}${path}`, 'GET', { token: OPERATOR_TOKEN })).body;
    const { state } = await operator(`/erasures/${erasureId}`);
    const { name } = await operator(`/contacts/${contactId}`);
    if (state !== 'done' || name !== 'erased') faults.push(`${contactId} is ${name}, its erasure ${state}`);
  }
  const names = known.erasures.map(({ name }) => name);
  if (names.length > 0) {
    for (const [table, text] of Object.entries(PLACES)) {
      const { rows } = await system.query(`select count(*)::int as n from ${table} where ${text} ~ $1`, [
        `(${names.join('|')})([^0-9]|$)`,
      ]);
      if (rows[0].n > 0) faults.push(`${rows[0].n} rows of ${table} name an erased person`);
    }
  }
  assert.deepEqual(faults, []);
}

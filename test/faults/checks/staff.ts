import assert from 'node:assert/strict';
import { CHIEF } from '../system.ts';
import type { Round } from './round.ts';

/** What the staff did by the console stands in the audit trail under the person's name with the reason, and in the feed under the name. */
export async function staffIsNamed({ system, known, reader }: Round): Promise<void> {
  const actor = `staff:${CHIEF.name}`;
  const { rows } = await system.query(
    `select request_id, actor, reason, staff->>'issuer' as issuer, staff->>'subject' as subject from audit where request_id = any($1)`,
    [known.staffActs.map(({ requestId }) => requestId)],
  );
  const found = new Map(rows.map(({ request_id, ...row }) => [request_id, row]));
  const wanted = { actor, issuer: system.provider.issuer, subject: CHIEF.sub };
  const changes = Map.groupBy(await reader.caughtUp(), ({ request_id }) => request_id);
  const faults: string[] = [];
  for (const { requestId, reason } of known.staffActs) {
    const row = found.get(requestId);
    try {
      assert.deepEqual(row, { ...wanted, reason });
    } catch {
      faults.push(`${requestId} ${reason} stands in the trail as ${JSON.stringify(row)}`);
    }
    for (const change of changes.get(requestId) ?? [])
      if (change.actor !== actor) faults.push(`${requestId} is a change of ${change.actor} in the feed`);
  }
  assert.deepEqual(faults, []);
}

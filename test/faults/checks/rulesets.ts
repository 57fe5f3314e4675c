import assert from 'node:assert/strict';
import type { Round } from './round.ts';

interface Ruled {
  id: string;
  payment: string;
  status: string;
  creator: string;
  authorisations: { contact_id: string; status: number }[];
  groups: { name: string; users: { id: string }[] }[];
  levels: { one_of: { all_of: string[] }[] }[];
}

/** The versions of each configuration have no gap, and a payment is approved when its version's rule is met, not earlier or later. */
export async function rulesetsGovern({ system, known }: Round): Promise<void> {
  const { rows: gaps } = await system.query(
    `select client_id from approval_configurations group by 1 having max(version) <> count(*) or min(version) <> 1`,
  );
  assert.deepEqual(gaps, [], 'versions have no gap');
  const { rows } = await system.query(
    `select p.payment_id as id, p.status as payment, pa.status, p.contact_id as creator, pa.authorisations, c.configuration->'groups' as groups,
       c.configuration->'ruleset'->'rules'->(pa.requirement->'ruleset'->>'rule')::int->'groups' as levels
     from payment_approvals pa join payments p on p.id = pa.payment_id
     join approval_configurations c on c.client_id = pa.client_id and c.version = (pa.requirement->'ruleset'->>'version')::int`,
  );
  const faults: string[] = [];
  for (const row of rows as Ruled[]) {
    const given = row.authorisations.filter(({ status }) => status === 1).map((each) => each.contact_id);
    const what = `${row.id} is ${row.status} with ${JSON.stringify(given)} of ${JSON.stringify(row.levels)}`;
    if (given.includes(row.creator)) faults.push(`its creator approved: ${what}`);
    if (new Set(given).size !== given.length) faults.push(`one person counts twice: ${what}`);
    if (row.status === 'Approved' && !met(row, given)) faults.push(`too early: ${what}`);
    if (row.status === 'Pending approval' && met(row, given)) faults.push(`too late: ${what}`);
    if (given.length > 0 && met(row, given.slice(0, -1))) faults.push(`more than enough: ${what}`);
    if ((row.payment === 'Payment pending of authorization') !== (row.status === 'Pending approval'))
      faults.push(`the payment is ${row.payment}: ${what}`);
  }
  assert.deepEqual(faults, []);
  for (const { requestId, contactId, done } of known.decisions) {
    const { rows: trail } = await system.query(
      `select p.payment_id as id from audit a join payments p on p.payment_id = a.entity_id
       where a.request_id = $1 and a.entity = 'payment' and a.actor = $2 order by 1`,
      [requestId, `contact:${contactId}`],
    );
    assert.deepEqual(
      trail.map(({ id }) => id),
      done.toSorted(),
      `decided in one go by ${requestId}`,
    );
  }
}

/** Whether each place of some choice of alternatives is taken by a person of its own. */
function met({ groups, levels }: Ruled, people: string[]): boolean {
  const members = new Map(groups.map(({ name, users }) => [name, users.map(({ id }) => id)]));
  const choices = levels.reduce<string[][]>(
    (found, { one_of }) => found.flatMap((places) => one_of.map(({ all_of }) => [...places, ...all_of])),
    [[]],
  );
  return choices.some((places) => filled(places, people, members));
}

function filled([place, ...rest]: string[], people: string[], members: Map<string, string[]>): boolean {
  if (place === undefined) return true;
  return people.some(
    (person, n) => members.get(place)?.includes(person) && filled(rest, people.toSpliced(n, 1), members),
  );
}

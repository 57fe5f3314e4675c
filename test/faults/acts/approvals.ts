import type { Caller } from '../caller.ts';

/** Names of groups, one or two persons each, over the four approvers. */
const SPLITS = [
  [
    [0, 1],
    [2, 3],
  ],
  [
    [0, 2],
    [1, 3],
  ],
  [[0], [1, 2, 3]],
  [[0, 1, 2, 3], [3]],
];
/** What a payment above a threshold needs, as levels of alternatives of groups; A is the first group, B the second. */
const LEVELS = [[['A']], [['B']], [['A'], ['B']], [['A', 'B']], [['B', 'B'], ['A']]];
const THRESHOLD = 2_000;

/**
 * The owner of the party `ruleset` replaces the configuration. Payments keep the version that they were created with. Parties of a
 * fixed number of eyes have none.
 */
export async function configure(at: Caller): Promise<void> {
  const party = at.known.parties.find(({ workflow }) => workflow === 'ruleset') ?? at.party;
  const [first = [], second = []] = at.random.pick(SPLITS);
  const mark = at.ledger.mark();
  const names = { A: mark, B: `${mark}-second` };
  const group = (name: string, members: number[]) => ({
    name,
    scope: 'payments',
    users: members.map((n) => ({ id: party.approvers[n]?.id })),
  });
  const rule = (minimum_threshold: number) => {
    const levels = at.random.pick(LEVELS).map((level) => level.map((name) => names[name as 'A' | 'B']));
    return { minimum_threshold, groups: levels.map((all_of) => ({ one_of: [{ all_of }] })) };
  };
  const body = {
    groups: [group(names.A, first), group(names.B, second)],
    ruleset: { currency: 'EUR', rules: [rule(0), rule(THRESHOLD)] },
  };
  await at.of(party).client('approval configuration', party.token, {
    ...{ path: '/approvals-workflow/config', body, table: 'approval_configurations', marks: [mark] },
  });
}

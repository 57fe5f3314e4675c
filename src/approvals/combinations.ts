import { Matching } from './matching.ts';

/** A level is a list of alternatives, an alternative a list of group indexes, each of which needs a person of its own. */
export type IndexedLevel = readonly (readonly number[])[];

export interface Membership {
  /** memberOf[person * groups + group] is 1 where the person is in the group. */
  memberOf: Uint8Array;
  /** For each group, the people who have approved. */
  approved: readonly (readonly number[])[];
  /** For each group, the people who have approved or still may. */
  able: readonly (readonly number[])[];
}

export interface Best {
  /** The least number of further people; where none of the combinations can be completed, the least number missing. */
  remaining: number;
  /** The first combination, in the order given, that needs so few: an alternative for each level. */
  choice: number[];
  /** For each group: one more approval by one of its people who has not acted lowers `remaining`. */
  lowering: boolean[];
}

interface Candidate {
  index: number;
  groups: readonly number[];
}

/** Whether every group of `small` stands at least as often in `large`. */
function within(small: readonly number[], large: readonly number[]): boolean {
  const rest = [...large];
  return small.every((group) => {
    const at = rest.indexOf(group);
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  });
}

/**
 * Alternatives that ask for all that another one asks for, and more, decide nothing: whoever meets them meets the other,
 * with no more people. The first of equal ones stays.
 */
function undominated(level: IndexedLevel): Candidate[] {
  const candidates = level.map((groups, index) => ({ index, groups }));
  return candidates.filter(
    ({ index, groups }) =>
      !candidates.some(
        (other) =>
          other.index !== index &&
          within(other.groups, groups) &&
          (other.groups.length < groups.length || other.index < index),
      ),
  );
}

function need(membership: Membership, groups: readonly number[]): number {
  const matching = new Matching(membership.memberOf, membership.approved);
  return groups.reduce((unmet, group) => unmet + (matching.add(group) ? 0 : 1), 0);
}

/**
 * Goes through the combinations of one alternative a level, depth first in the order given, and gives what the best of
 * them need. A combination needs its demands minus the largest matching of them with the people who have approved; it counts
 * only when all its demands could be matched with distinct people who are able (a matching of the approved ones can
 * always be enlarged to that without losing one of them). Branches are left where the demands so far cannot be completed,
 * where the least that the levels below add is more than the best found, and, at a tie, where no group could be added
 * to `lowering`.
 * @param completable false: combinations that nobody can complete count too
 * @returns null where no combination counts
 */
export function bestCombination(
  levels: readonly IndexedLevel[],
  membership: Membership,
  completable: boolean,
): Best | null {
  const groupCount = membership.able.length;
  const candidates = levels.map(undominated);
  const depth = candidates.length;
  const most = candidates.reduce((sum, level) => sum + Math.max(...level.map(({ groups }) => groups.length)), 0);

  // below[k]: the least that levels k.. add on their own, the fewest demands they make, and every group they name.
  const below = Array.from({ length: depth + 1 }, () => ({ need: 0, demands: 0, groups: new Set<number>() }));
  for (let level = depth - 1; level >= 0; level -= 1) {
    const after = below[level + 1]!;
    const here = candidates[level]!;
    below[level] = {
      need: after.need + Math.min(...here.map(({ groups }) => need(membership, groups))),
      demands: after.demands + Math.min(...here.map(({ groups }) => groups.length)),
      groups: new Set([...after.groups, ...here.flatMap(({ groups }) => groups)]),
    };
  }

  const approvals = new Matching(membership.memberOf, membership.approved);
  const people = new Matching(membership.memberOf, membership.able);
  const approvers = new Set(membership.approved.flat()).size;
  // A group with as many able people as there can be demands has one left whatever the others take.
  const scarce = membership.able.map((able) => completable && able.length < most);
  const settled = membership.able.map((able, group) => able.length === membership.approved[group]!.length);
  const unmet: number[] = [];
  const demanded: number[] = [];
  const chosen: number[] = [];
  let best: Best | null = null;

  function hopeless(level: number): boolean {
    if (best === null) return false;
    const rest = below[level]!;
    const least = unmet.length + Math.max(rest.need, rest.demands - (approvers - approvals.size));
    if (least !== best.remaining) return least > best.remaining;
    const { lowering } = best;
    for (const group of demanded) if (!lowering[group] && !settled[group]) return false;
    for (const group of rest.groups) if (!lowering[group] && !settled[group]) return false;
    return true;
  }

  function visit(level: number): void {
    if (level === depth) {
      if (best === null || unmet.length < best.remaining) {
        best = { remaining: unmet.length, choice: [...chosen], lowering: new Array<boolean>(groupCount).fill(false) };
      }
      for (const group of approvals.openings(unmet)) best.lowering[group] = true;
      return;
    }
    for (const { index, groups } of candidates[level]!) {
      let taken = 0;
      while (taken < groups.length && (!scarce[groups[taken]!] || people.add(groups[taken]!))) taken += 1;
      if (taken === groups.length) {
        const before = unmet.length;
        const met: number[] = [];
        for (const group of groups) (approvals.add(group) ? met : unmet).push(group);
        demanded.push(...groups);
        chosen.push(index);
        if (!hopeless(level + 1)) visit(level + 1);
        chosen.pop();
        demanded.length -= groups.length;
        for (const group of met) approvals.remove(group);
        unmet.length = before;
      }
      for (let at = 0; at < taken; at += 1) if (scarce[groups[at]!]) people.remove(groups[at]!);
    }
  }

  if (!hopeless(0)) visit(0);
  return best;
}

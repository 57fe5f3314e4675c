import { Matching } from './matching.ts';

/** A level is a list of alternatives, an alternative a list of group indexes, each of which needs a person of its own. */
export type IndexedLevel = readonly (readonly number[])[];

export interface Membership {
  /** How many people there are; they are numbered from 0. */
  people: number;
  /** For each group, the people who have approved. */
  approved: readonly (readonly number[])[];
  /** For each group, the people who have approved or still may. */
  able: readonly (readonly number[])[];
}

export interface Best {
  /** The least number of further people; where none of the combinations can be completed, the least number missing. */
  remaining: number;
  /** A combination that needs so few: an alternative for each level. The same for the same approvals. */
  choice: number[];
  /** The people who are able and have not approved, each of whose approval as the next one lowers `remaining`. */
  lowering: Set<number>;
}

interface Candidate {
  index: number;
  groups: readonly number[];
  /** Demands that those who approved cannot fill even when this alternative stands alone. */
  need: number;
}

/**
 * A proof that demands cannot be met (Hall): the groups have no more than `people` able members together.
 * Kept once found, it rules out other combinations without a search.
 */
interface Shortage {
  people: number;
  /** asked[level][alternative]: how many demands the alternative makes on the groups. */
  asked: number[][];
  /** The fewest that the levels from k on make. */
  below: number[];
}

/** Shortages kept of one search; more cost more to compare than they save. */
const MAX_SHORTAGES = 24;

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
 * The alternatives of a level worth a look, those that need the fewest further people first. One that asks for all that
 * another asks for, and more, decides nothing: whoever meets it meets the other, with no more people. Of equal ones the
 * first stays.
 */
function worthwhile(level: IndexedLevel, membership: Membership): Candidate[] {
  const dominated = (groups: readonly number[], index: number) =>
    level.some((other, at) => at !== index && within(other, groups) && (other.length < groups.length || at < index));
  return level
    .map((groups, index) => {
      const matching = new Matching(membership.people, membership.approved);
      return { index, groups, need: groups.filter((group) => !matching.add(group)).length };
    })
    .filter(({ groups, index }) => !dominated(groups, index))
    .sort((a, b) => a.need - b.need || a.index - b.index);
}

/**
 * Goes through the combinations of one alternative a level, depth first, and gives what the best of them need. A combination
 * needs its demands minus the largest matching of them with the people who have approved; it counts only when all its
 * demands could be matched with distinct people who are able (a matching of the approved ones can always be enlarged to
 * that without losing one of them). Branches are left where the demands so far cannot be completed, where the least that
 * the levels below add is more than the best found, and, at a tie, where nobody could be added to `lowering`.
 * @param completable false: combinations that nobody can complete count too
 * @returns null where no combination counts
 */
export function bestCombination(
  levels: readonly IndexedLevel[],
  membership: Membership,
  completable: boolean,
): Best | null {
  const candidates = levels.map((level) => worthwhile(level, membership));
  const depth = candidates.length;
  const most = candidates.reduce((sum, level) => sum + Math.max(...level.map(({ groups }) => groups.length)), 0);

  // below[k]: the least that levels k.. need on their own, the fewest demands they make, and every group they name.
  const below = Array.from({ length: depth + 1 }, () => ({ need: 0, demands: 0, groups: [] as number[] }));
  for (let level = depth - 1; level >= 0; level -= 1) {
    const after = below[level + 1]!;
    const here = candidates[level]!;
    below[level] = {
      need: after.need + here[0]!.need,
      demands: after.demands + Math.min(...here.map(({ groups }) => groups.length)),
      groups: [...new Set([...after.groups, ...here.flatMap(({ groups }) => groups)])],
    };
  }

  const approvals = new Matching(membership.people, membership.approved);
  const people = new Matching(membership.people, membership.able);
  const approvers = new Set(membership.approved.flat()).size;
  // A group with as many able people as there can be demands has one left whatever the others take.
  const scarce = membership.able.map((able) => completable && able.length < most);
  const newcomers = membership.able.map((able, group) => {
    const approved = new Set(membership.approved[group]);
    return able.filter((person) => !approved.has(person));
  });
  const groupsOf: number[][] = [];
  newcomers.forEach((group, index) => {
    for (const person of group) (groupsOf[person] ??= []).push(index);
  });
  /** For each group, how many of its newcomers are not yet known to lower the best: 0, and it has nothing more to tell. */
  let untold: number[] = [];
  const shortages: Shortage[] = [];
  /** The groups of the demands so far, without and with somebody who approved. */
  const unmet: number[] = [];
  const filled: number[] = [];
  /** Positions in `candidates` of the alternatives chosen so far. */
  const path: number[] = [];
  let best: Best | null = null;

  function learn(groups: readonly number[]): void {
    if (shortages.length === MAX_SHORTAGES) shortages.shift();
    const within = new Set(groups);
    const asked = candidates.map((level) =>
      level.map((each) => each.groups.filter((group) => within.has(group)).length),
    );
    const least = new Array<number>(depth + 1).fill(0);
    for (let level = depth - 1; level >= 0; level -= 1) least[level] = least[level + 1]! + Math.min(...asked[level]!);
    shortages.push({ people: new Set(groups.flatMap((group) => membership.able[group]!)).size, asked, below: least });
  }

  function short(level: number): boolean {
    return shortages.some((shortage) => {
      let asked = shortage.below[level]!;
      for (let above = 0; above < level; above += 1) asked += shortage.asked[above]![path[above]!]!;
      return asked > shortage.people;
    });
  }

  function hopeless(level: number): boolean {
    if (best === null) return false;
    if (best.remaining === 0) return true;
    const rest = below[level]!;
    const least = unmet.length + Math.max(rest.need, rest.demands - (approvers - approvals.size));
    if (least !== best.remaining) return least > best.remaining;
    for (const group of unmet) if (untold[group] !== 0) return false;
    for (const group of filled) if (untold[group] !== 0) return false;
    for (const group of rest.groups) if (untold[group] !== 0) return false;
    return true;
  }

  function tell(group: number, lowering: Set<number>): void {
    for (const person of newcomers[group]!) {
      if (lowering.has(person)) continue;
      lowering.add(person);
      for (const each of groupsOf[person]!) untold[each]! -= 1;
    }
  }

  /** Goes on below a choice whose demands have people, and gives those people back. */
  function staffed(level: number, groups: readonly number[]): void {
    let taken = 0;
    while (taken < groups.length && (!scarce[groups[taken]!] || people.add(groups[taken]!))) taken += 1;
    if (taken === groups.length) visit(level + 1);
    else learn(people.openings([groups[taken]!]));
    for (let at = 0; at < taken; at += 1) if (scarce[groups[at]!]) people.remove(groups[at]!);
  }

  function visit(level: number): void {
    if (level === depth) {
      if (best === null || unmet.length < best.remaining) {
        const choice = path.map((position, at) => candidates[at]![position]!.index);
        best = { remaining: unmet.length, choice, lowering: new Set() };
        untold = newcomers.map(({ length }) => length);
      }
      for (const group of approvals.openings(unmet)) if (untold[group] !== 0) tell(group, best.lowering);
      return;
    }
    const here = candidates[level]!;
    for (let position = 0; position < here.length; position += 1) {
      const { groups, need } = here[position]!;
      if (best !== null && unmet.length + need + below[level + 1]!.need > best.remaining) break;
      path.push(position);
      if (!short(level + 1)) {
        const before = unmet.length;
        const met = filled.length;
        for (const group of groups) (approvals.add(group) ? filled : unmet).push(group);
        if (!hopeless(level + 1)) staffed(level, groups);
        while (filled.length > met) approvals.remove(filled.pop()!);
        unmet.length = before;
      }
      path.pop();
    }
  }

  // Everybody together is the first shortage to look at: more demands than there are people.
  if (completable && scarce.some(Boolean)) learn(membership.able.map((_, group) => group));
  if (!short(0)) visit(0);
  return best;
}

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

/** An alternative that is worth a try. */
export interface Candidate {
  /** In its level. */
  index: number;
  groups: readonly number[];
  /** Demands that the people who approved cannot meet, even if this alternative stands alone. */
  need: number;
}

/** Whether `large` names every group of `small` at least as often. */
function within(small: readonly number[], large: readonly number[]): boolean {
  const rest = [...large];
  return small.every((group) => {
    const at = rest.indexOf(group);
    if (at !== -1) rest.splice(at, 1);
    return at !== -1;
  });
}

/**
 * The alternatives of a level that are worth a try, those that need the fewest further people first. An alternative that asks for
 * all that another one asks for, and more, decides nothing: everybody who meets it also meets the other, with no more people. Of equal
 * alternatives the first stays.
 */
export function candidatesOf(level: IndexedLevel, membership: Membership): Candidate[] {
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

import { type Candidate, candidatesOf, type IndexedLevel, Matching, type Membership } from './matching.ts';
import { Shortages } from './shortages.ts';

export interface Best {
  /** The smallest number of further people needed. If no combination can be completed, the smallest number missing. */
  remaining: number;
  /** A combination with that number: an alternative for each level. The same approvals always give the same choice. */
  choice: number[];
  /** The able people who have not approved and whose approval as the next one would lower `remaining`. */
  lowering: Set<number>;
}

/** What the levels from one on need at least. */
interface Below {
  /** Further people, if each level were on its own. */
  need: number;
  /** The smallest number of demands. */
  demands: number;
  /** All groups that they name. */
  groups: number[];
}

/**
 * Finds the combination, with one alternative for each level, that needs the fewest further people.
 * @param completable false: combinations that nobody can complete count too
 * @returns null if no combination counts
 */
export function bestCombination(
  levels: readonly IndexedLevel[],
  membership: Membership,
  completable: boolean,
): Best | null {
  const candidates = levels.map((level) => candidatesOf(level, membership));
  return new CombinationSearch(candidates, membership, completable).run();
}

/**
 * Goes through the combinations depth first. A combination needs as many people as it has demands, minus the largest matching of the
 * demands with the people who have approved. It counts only if all its demands can be matched with distinct able people. A matching of
 * people who approved can always be extended to such a matching without losing one of them. A branch is cut in three cases: the demands so
 * far cannot be met; the lower levels need at least so much that the best result cannot be beaten; or at a tie, nobody could be added to
 * `lowering`.
 */
class CombinationSearch {
  readonly #candidates: readonly (readonly Candidate[])[];
  readonly #below: readonly Below[];
  readonly #approvals: Matching;
  readonly #people: Matching;
  readonly #approvers: number;
  /** Groups that can run out of people. Any other group has one left, whatever the demands use. */
  readonly #scarce: readonly boolean[];
  /** For each group, the able people who have not approved; and for each of these people, their groups. */
  readonly #newcomers: readonly (readonly number[])[];
  readonly #groupsOf: number[][] = [];
  /** For each group, how many of its newcomers are not yet known to lower the best. At 0 there is nothing more to learn from it. */
  #untold: number[] = [];
  readonly #shortages: Shortages;
  /** The groups of the demands so far, split by whether somebody who approved fills them. */
  readonly #unmet: number[] = [];
  readonly #met: number[] = [];
  /** Positions of the candidates chosen so far. */
  readonly #path: number[] = [];
  #best: Best | null = null;

  constructor(candidates: readonly (readonly Candidate[])[], membership: Membership, completable: boolean) {
    const { people, approved, able } = membership;
    this.#candidates = candidates;
    this.#below = belowEach(candidates);
    this.#approvals = new Matching(people, approved);
    this.#people = new Matching(people, able);
    this.#approvers = new Set(approved.flat()).size;
    const demands = candidates.reduce((sum, level) => sum + Math.max(...level.map(({ groups }) => groups.length)), 0);
    this.#scarce = able.map((members) => completable && members.length < demands);
    this.#newcomers = able.map((members, group) => {
      const known = new Set(approved[group]);
      return members.filter((person) => !known.has(person));
    });
    this.#newcomers.forEach((members, group) => {
      for (const person of members) (this.#groupsOf[person] ??= []).push(group);
    });
    this.#shortages = new Shortages(candidates, able);
  }

  run(): Best | null {
    // The first possible shortage is of all groups together: more demands than people.
    if (this.#scarce.some(Boolean)) this.#shortages.add(this.#scarce.map((_, group) => group));
    if (!this.#shortages.ruleOut(this.#path)) this.#visit(0);
    return this.#best;
  }

  #visit(level: number): void {
    if (level === this.#candidates.length) {
      this.#compare();
      return;
    }
    const here = this.#candidates[level]!;
    const rest = this.#below[level + 1]!;
    for (let position = 0; position < here.length; position += 1) {
      const { groups, need } = here[position]!;
      if (this.#best !== null && this.#unmet.length + need + rest.need > this.#best.remaining) break;
      this.#path.push(position);
      if (!this.#shortages.ruleOut(this.#path)) this.#choose(level, groups);
      this.#path.pop();
    }
  }

  /** Adds the demands of a candidate, searches below it, and removes the demands again. */
  #choose(level: number, groups: readonly number[]): void {
    const unmet = this.#unmet.length;
    const met = this.#met.length;
    for (const group of groups) (this.#approvals.add(group) ? this.#met : this.#unmet).push(group);
    if (!this.#hopeless(level + 1)) this.#staff(level, groups);
    while (this.#met.length > met) this.#approvals.remove(this.#met.pop()!);
    this.#unmet.length = unmet;
  }

  /** Finds people for the demands of a candidate, searches below it, and releases those people again. */
  #staff(level: number, groups: readonly number[]): void {
    let taken = 0;
    while (taken < groups.length && (!this.#scarce[groups[taken]!] || this.#people.add(groups[taken]!))) taken += 1;
    if (taken === groups.length) this.#visit(level + 1);
    else this.#shortages.add(this.#people.openings([groups[taken]!]));
    for (let at = 0; at < taken; at += 1) if (this.#scarce[groups[at]!]) this.#people.remove(groups[at]!);
  }

  /** Compares a complete combination: keeps it if it is better, and learns who would lower what it needs. */
  #compare(): void {
    let best = this.#best;
    if (best === null || this.#unmet.length < best.remaining) {
      const choice = this.#path.map((position, level) => this.#candidates[level]![position]!.index);
      best = { remaining: this.#unmet.length, choice, lowering: new Set() };
      this.#best = best;
      this.#untold = this.#newcomers.map(({ length }) => length);
    }
    for (const group of this.#approvals.openings(this.#unmet)) {
      if (this.#untold[group] !== 0) this.#tell(group, best.lowering);
    }
  }

  #tell(group: number, lowering: Set<number>): void {
    for (const person of this.#newcomers[group]!) {
      if (lowering.has(person)) continue;
      lowering.add(person);
      for (const each of this.#groupsOf[person]!) this.#untold[each]! -= 1;
    }
  }

  /** Whether nothing below can beat the best, or equal it with somebody new. */
  #hopeless(level: number): boolean {
    if (this.#best === null) return false;
    if (this.#best.remaining === 0) return true;
    const rest = this.#below[level]!;
    const least = this.#unmet.length + Math.max(rest.need, rest.demands - (this.#approvers - this.#approvals.size));
    if (least !== this.#best.remaining) return least > this.#best.remaining;
    const untold = this.#untold;
    for (const group of this.#unmet) if (untold[group] !== 0) return false;
    for (const group of this.#met) if (untold[group] !== 0) return false;
    for (const group of rest.groups) if (untold[group] !== 0) return false;
    return true;
  }
}

/** For each level, what the levels from it on need; nothing after the last. */
function belowEach(candidates: readonly (readonly Candidate[])[]): Below[] {
  const below = Array.from({ length: candidates.length + 1 }, (): Below => ({ need: 0, demands: 0, groups: [] }));
  for (let level = candidates.length - 1; level >= 0; level -= 1) {
    const after = below[level + 1]!;
    const here = candidates[level]!;
    below[level] = {
      need: after.need + here[0]!.need,
      demands: after.demands + Math.min(...here.map(({ groups }) => groups.length)),
      groups: [...new Set([...after.groups, ...here.flatMap(({ groups }) => groups)])],
    };
  }
  return below;
}

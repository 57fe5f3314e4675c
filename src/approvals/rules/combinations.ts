import { type Candidate, candidatesOf, type IndexedLevel, Matching, type Membership } from './matching.ts';
import { Shortages } from './shortages.ts';

export interface Best {
  /** The least number of further people; where none of the combinations can be completed, the least number missing. */
  remaining: number;
  /** A combination that needs so few: an alternative for each level. The same for the same approvals. */
  choice: number[];
  /** The people who are able and have not approved, each of whose approval as the next one lowers `remaining`. */
  lowering: Set<number>;
}

/** What the levels from one on need at least. */
interface Below {
  /** Further people, if each level stood alone. */
  need: number;
  /** The fewest demands. */
  demands: number;
  /** Every group that they name. */
  groups: number[];
}

/**
 * Finds the combination of one alternative a level that needs the fewest further people.
 * @param completable false: combinations that nobody can complete count too
 * @returns null where no combination counts
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
 * Goes through the combinations depth first. A combination needs its demands minus the largest matching of them with the people who
 * have approved. It counts only if all its demands can be matched with distinct people who are able: a matching of the people who
 * approved can always be enlarged to that without losing one of them. A branch is left in three cases: the demands so far cannot be
 * met; the least that the levels below add is more than the best found; at a tie, nobody could be added to `lowering`.
 */
class CombinationSearch {
  readonly #candidates: readonly (readonly Candidate[])[];
  readonly #below: readonly Below[];
  readonly #approvals: Matching;
  readonly #people: Matching;
  readonly #approvers: number;
  /** Groups that can run out of people. Any other has one left whatever the demands take. */
  readonly #scarce: readonly boolean[];
  /** For each group, the able people who have not approved; and for each of these people, their groups. */
  readonly #newcomers: readonly (readonly number[])[];
  readonly #groupsOf: number[][] = [];
  /** For each group, how many of its newcomers are not yet known to lower the best: at 0 it has nothing more to tell. */
  #untold: number[] = [];
  readonly #shortages: Shortages;
  /** The groups of the demands so far, without and with somebody who approved. */
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
    // All groups together are the first shortage to look at: more demands than there are people.
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

  /** Adds the demands of a candidate, goes on below it, and takes the demands back. */
  #choose(level: number, groups: readonly number[]): void {
    const unmet = this.#unmet.length;
    const met = this.#met.length;
    for (const group of groups) (this.#approvals.add(group) ? this.#met : this.#unmet).push(group);
    if (!this.#hopeless(level + 1)) this.#staff(level, groups);
    while (this.#met.length > met) this.#approvals.remove(this.#met.pop()!);
    this.#unmet.length = unmet;
  }

  /** Finds people for the demands of a candidate, goes on below it, and gives those people back. */
  #staff(level: number, groups: readonly number[]): void {
    let taken = 0;
    while (taken < groups.length && (!this.#scarce[groups[taken]!] || this.#people.add(groups[taken]!))) taken += 1;
    if (taken === groups.length) this.#visit(level + 1);
    else this.#shortages.add(this.#people.openings([groups[taken]!]));
    for (let at = 0; at < taken; at += 1) if (this.#scarce[groups[at]!]) this.#people.remove(groups[at]!);
  }

  /** A whole combination: keeps it if it is better, and learns who would lower what it needs. */
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

  /** Whether nothing below can be better than the best, nor as good with somebody new. */
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

/** For each level what the levels from it on need; nothing after the last. */
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

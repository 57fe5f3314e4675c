import type { Candidate } from './matching.ts';

/**
 * A proof that demands cannot be met (Hall's theorem): the groups together have no more than `people` able members. Once found, it rules
 * out other combinations without a search.
 */
interface Shortage {
  people: number;
  /** asked[level][position]: how many demands the candidate makes on the groups. */
  asked: number[][];
  /** below[k]: the smallest number of demands that the levels from k on make on them. */
  below: number[];
}

/** The most shortages kept in one search. Comparing more would cost more than it saves. */
const MAX_SHORTAGES = 24;

/** The shortages found so far. */
export class Shortages {
  readonly #candidates: readonly (readonly Candidate[])[];
  readonly #able: readonly (readonly number[])[];
  readonly #known: Shortage[] = [];

  /**
   * @param candidates of each level
   * @param able for each group, the people who have approved or still may
   */
  constructor(candidates: readonly (readonly Candidate[])[], able: readonly (readonly number[])[]) {
    this.#candidates = candidates;
    this.#able = able;
  }

  /** Remembers that a choice asks the groups for more people than they have. */
  add(groups: readonly number[]): void {
    if (this.#known.length === MAX_SHORTAGES) this.#known.shift();
    const short = new Set(groups);
    const asked = this.#candidates.map((level) =>
      level.map((each) => each.groups.filter((group) => short.has(group)).length),
    );
    const below = new Array<number>(asked.length + 1).fill(0);
    for (let level = asked.length - 1; level >= 0; level -= 1) {
      below[level] = below[level + 1]! + Math.min(...asked[level]!);
    }
    this.#known.push({ people: new Set(groups.flatMap((group) => this.#able[group]!)).size, asked, below });
  }

  /** Whether a known shortage rules out the choices so far, whatever the lower levels choose. @param path position in each level */
  ruleOut(path: readonly number[]): boolean {
    return this.#known.some((shortage) => {
      let asked = shortage.below[path.length]!;
      for (let level = 0; level < path.length; level += 1) asked += shortage.asked[level]![path[level]!]!;
      return asked > shortage.people;
    });
  }
}

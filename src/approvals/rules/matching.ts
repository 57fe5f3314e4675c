/** Not a group: the person is free, or the search began at the group. */
const NONE = -1;

/**
 * A bipartite matching of demands (one distinct person from a group) with people. It grows and shrinks by one demand at a time. Demands on
 * the same group are interchangeable, so the matching knows a person's group, but not the specific demand.
 */
export class Matching {
  /** The people who may be matched, by group. */
  readonly #pool: readonly (readonly number[])[];
  /** For each person, the group with which it is matched. */
  readonly #held: Int32Array;
  /** For each group that a search reached: the group from which it was reached, and the person of that group who would move here. */
  readonly #from: Int32Array;
  readonly #mover: Int32Array;
  readonly #seen: Uint32Array;
  readonly #queue: number[] = [];
  #round = 0;
  #size = 0;

  /**
   * @param people how many there are; they are numbered from 0
   * @param pool for each group, those of them who are in it and may be matched
   */
  constructor(people: number, pool: readonly (readonly number[])[]) {
    this.#pool = pool;
    this.#held = new Int32Array(people).fill(NONE);
    this.#from = new Int32Array(pool.length);
    this.#mover = new Int32Array(pool.length);
    this.#seen = new Uint32Array(pool.length);
  }

  /** The number of matched demands. */
  get size(): number {
    return this.#size;
  }

  #reach(group: number, from: number, mover: number): void {
    if (this.#seen[group] === this.#round) return;
    this.#seen[group] = this.#round;
    this.#from[group] = from;
    this.#mover[group] = mover;
    this.#queue.push(group);
  }

  #start(): void {
    this.#round += 1;
    this.#queue.length = 0;
  }

  /**
   * Adds a demand on a group along an augmenting path. Others may move to another of their groups, but nobody leaves the matching.
   * @returns false, with the matching unchanged, if no arrangement has a person for the demand
   */
  add(group: number): boolean {
    this.#start();
    this.#reach(group, NONE, NONE);
    for (let next = 0; next < this.#queue.length; next += 1) {
      const reached = this.#queue[next]!;
      for (const person of this.#pool[reached]!) {
        const held = this.#held[person]!;
        if (held !== NONE) {
          this.#reach(held, reached, person);
          continue;
        }
        this.#move(person, reached);
        this.#size += 1;
        return true;
      }
    }
    return false;
  }

  /** Gives a group a free person. The group's mover then moves to the group from which this one was reached, and so on up to the demand. */
  #move(person: number, reached: number): void {
    let mover = person;
    for (let group = reached; group !== NONE; group = this.#from[group]!) {
      this.#held[mover] = group;
      mover = this.#mover[group]!;
    }
  }

  /** Takes back one demand on a group that `add` accepted. Any of its people will do, because demands on a group are interchangeable. */
  remove(group: number): void {
    const person = this.#pool[group]!.find((each) => this.#held[each] === group)!;
    this.#held[person] = NONE;
    this.#size -= 1;
  }

  /**
   * The groups through which one more person would enlarge the matching: the unmet ones, and those whose people could move to an unmet one.
   * @param unmet groups with a demand that `add` refused
   * @returns groups, valid until the next call of any method
   */
  openings(unmet: readonly number[]): readonly number[] {
    this.#start();
    for (const group of unmet) this.#reach(group, NONE, NONE);
    for (let next = 0; next < this.#queue.length; next += 1) {
      const reached = this.#queue[next]!;
      for (const person of this.#pool[reached]!) this.#reach(this.#held[person]!, reached, person);
    }
    return this.#queue;
  }
}

/** A level is a list of alternatives. An alternative is a list of group indexes, each of which needs a person of its own. */
export type IndexedLevel = readonly (readonly number[])[];

export interface Membership {
  /** The number of people. They are numbered from 0. */
  people: number;
  /** For each group, the people who have approved. */
  approved: readonly (readonly number[])[];
  /** For each group, the people who have approved or still may. */
  able: readonly (readonly number[])[];
}

/** An alternative that is worth trying. */
export interface Candidate {
  /** Its index in its level. */
  index: number;
  groups: readonly number[];
  /** Demands that the people who approved cannot meet, even if this alternative is on its own. */
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
 * The alternatives of a level that are worth trying, those that need the fewest further people first. An alternative is left out if it asks
 * for everything that another one asks for, and more: whoever meets it also meets the other, with no more people. Of equal alternatives the
 * first stays.
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

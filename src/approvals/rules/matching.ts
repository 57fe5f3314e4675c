/** No group: the person is free, or the search began at the group. */
const NONE = -1;

/**
 * A bipartite matching of demands (one distinct person out of a group) with people, that grows and shrinks by one demand
 * at a time. Demands on the same group are alike, so the matching knows which group a person is matched with, not which demand.
 */
export class Matching {
  /** The people who may be matched, by group. */
  readonly #pool: readonly (readonly number[])[];
  /** For each person the group that it is matched with. */
  readonly #held: Int32Array;
  /** For each group reached by a search: the group it was reached from, and its person who would move there. */
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

  /** How many demands are matched. */
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
   * Adds a demand on a group along an augmenting path: others move to another of their groups, nobody leaves the matching.
   * @returns false, with the matching unchanged, if no arrangement has a person for it
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

  /** Gives a group a free person; its mover goes on to where the group was reached from, and so on to the demand. */
  #move(person: number, reached: number): void {
    let mover = person;
    for (let group = reached; group !== NONE; group = this.#from[group]!) {
      this.#held[mover] = group;
      mover = this.#mover[group]!;
    }
  }

  /** Takes back one demand on a group that `add` accepted. Any of its people will do: demands on a group are alike. */
  remove(group: number): void {
    const person = this.#pool[group]!.find((each) => this.#held[each] === group)!;
    this.#held[person] = NONE;
    this.#size -= 1;
  }

  /**
   * The groups through which one more person would enlarge the matching: the unmet ones, and those whose people could
   * move over to an unmet one.
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

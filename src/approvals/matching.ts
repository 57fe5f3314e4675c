/**
 * A bipartite matching of demands (one distinct person out of a group) with people, that grows and shrinks by one demand
 * at a time. Demands on the same group are alike, so the matching knows how many it holds of each group, not which.
 */
export class Matching {
  /** memberOf[person * groups + group] is 1 where the person is in the group. */
  readonly #memberOf: Uint8Array;
  readonly #groups: number;
  /** The people who may be matched, by group. */
  readonly #pool: readonly (readonly number[])[];
  readonly #used: Uint8Array;
  readonly #person: number[] = [];
  readonly #group: number[] = [];
  readonly #queue: number[] = [];
  /** For each group reached: the group it was reached from, and the pair whose person would move there. */
  readonly #from: Int32Array;
  readonly #via: Int32Array;
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(memberOf: Uint8Array, pool: readonly (readonly number[])[]) {
    this.#memberOf = memberOf;
    this.#pool = pool;
    this.#groups = pool.length;
    this.#used = new Uint8Array(pool.length === 0 ? 0 : memberOf.length / pool.length);
    this.#from = new Int32Array(pool.length);
    this.#via = new Int32Array(pool.length);
    this.#seen = new Uint32Array(pool.length);
  }

  get size(): number {
    return this.#person.length;
  }

  #start(): void {
    this.#round += 1;
    this.#queue.length = 0;
  }

  /** Queues the groups that a matched member of `group` could be moved out of. */
  #spread(group: number): void {
    for (let pair = 0; pair < this.#person.length; pair += 1) {
      const held = this.#group[pair]!;
      if (this.#seen[held] === this.#round) continue;
      if (this.#memberOf[this.#person[pair]! * this.#groups + group] === 0) continue;
      this.#seen[held] = this.#round;
      this.#from[held] = group;
      this.#via[held] = pair;
      this.#queue.push(held);
    }
  }

  /**
   * Adds a demand on a group along an augmenting path: others move to another of their groups, nobody leaves the matching.
   * @returns false, with the matching unchanged, where no arrangement has a person for it
   */
  add(group: number): boolean {
    this.#start();
    this.#seen[group] = this.#round;
    this.#from[group] = -1;
    this.#queue.push(group);
    for (let next = 0; next < this.#queue.length; next += 1) {
      const reached = this.#queue[next]!;
      for (const person of this.#pool[reached]!) {
        if (this.#used[person] === 1) continue;
        this.#used[person] = 1;
        let last = reached;
        while (this.#from[last] !== -1) {
          const to = this.#from[last]!;
          this.#group[this.#via[last]!] = to;
          last = to;
        }
        this.#person.push(person);
        this.#group.push(reached);
        return true;
      }
      this.#spread(reached);
    }
    return false;
  }

  /** Takes back one demand on a group that `add` accepted. Any of its people will do: demands on a group are alike. */
  remove(group: number): void {
    const pair = this.#group.lastIndexOf(group);
    this.#used[this.#person[pair]!] = 0;
    const person = this.#person.pop()!;
    const held = this.#group.pop()!;
    if (pair < this.#person.length) {
      this.#person[pair] = person;
      this.#group[pair] = held;
    }
  }

  /**
   * The groups through which one more person would enlarge the matching: the unmet ones, and those whose people could
   * move over to an unmet one.
   * @param unmet groups with a demand that `add` refused
   * @returns groups, valid until the next call of any method
   */
  openings(unmet: Iterable<number>): readonly number[] {
    this.#start();
    for (const group of unmet) {
      if (this.#seen[group] === this.#round) continue;
      this.#seen[group] = this.#round;
      this.#queue.push(group);
    }
    for (let next = 0; next < this.#queue.length; next += 1) this.#spread(this.#queue[next]!);
    return this.#queue;
  }
}

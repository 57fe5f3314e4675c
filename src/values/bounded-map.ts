/**
 * A map that holds at most a given number of entries. When it is full, the entry that was set longest ago goes first. Setting a key again
 * makes it the newest. A caller that wants to keep recently used entries sets an entry again when it reads it.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #maxEntries: number;

  /** @param maxEntries at least 1 */
  constructor(maxEntries: number) {
    super();
    this.#maxEntries = maxEntries;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    for (const oldest of this.keys()) {
      if (this.size < this.#maxEntries) break;
      this.delete(oldest);
    }
    return super.set(key, value);
  }
}

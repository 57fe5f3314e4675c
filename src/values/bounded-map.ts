/**
 * A map that holds at most so many entries: the one that was set longest ago goes first. Setting a key again makes it the newest.
 * Callers that want to keep what is used, and not what is new, set what they have got.
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

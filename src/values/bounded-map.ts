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
    if (this.size >= this.#maxEntries) this.delete(this.keys().next().value as K);
    return super.set(key, value);
  }
}
